// SPDX-License-Identifier: Apache-2.0
// How a convolution is lowered onto products of a panel: int8 by pairs of channels (which also makes sums), by words or
// by four channels at a time (conv_2d.cpp), int16 by halves and weights of 4 bits by nibbles (conv_2d_forms.cpp). The
// windows of a tile of neighbouring outputs are spread into a panel of halfwords (conv_panel.h), then one kernel call
// makes all their channels.
#pragma once

#include <tuple>
#include <utility>

#include "cores/arm/dsp/conv_panel.h"
#include "cores/arm/dsp/gemm16.h"
#include "cores/arm/dsp/group_plane.h"
#include "cores/arm/dsp/nibbles.h"
#include "ops/common/alike.h"
#include "ops/common/conv_order.h"
#include "ops/conv_2d/shape.h"
#include "ops/depthwise_conv_2d/bands.h"

namespace aotc::cores::arm {

// The shapes of an int8 convolution, and what else the text of its product by pairs depends on; nullopt if there is
// none.
std::optional<AlikeOps::Key> conv_shapes(const OpView& op, const TargetInfo& target);
std::optional<AlikeOps::Key> pairs_text(const OpView& op, const TargetInfo& target);

class DspConvLowering {
 public:
  DspConvLowering(const OpView& op, const TargetInfo& target)
      : op_(op),
        whole_(op),
        f_(op, "conv_2d"),
        target_(target),
        plane_(f_, whole_, op.operand(0).zero_point(), whole_.grouped() ? plane_budget(op, target) : 0, target),
        conv_(plane_.fits() ? plane_.shape() : whole_),
        spread_(f_, conv_, op.operand(0).dtype, op.operand(0).zero_point()) {}

  // nullopt if the kernels do not apply.
  std::optional<Lowered> run();
  // By two pixels and four channels at a time (gemm_fours.h), or nothing.
  std::optional<Lowered> run_fours();

 private:
  int64_t steps() const { return static_cast<int64_t>(order_.size()); }
  int64_t pixels() const { return conv_.pixels(); }
  // Products of the panel with all channels of conv_ that a run makes: of groups of channels, of bands of rows.
  int64_t parts() const { return plane_.fits() ? plane_.groups() * plane_.bands() : 1; }

  // Whether the operator is one for the panel.
  bool fits_panel() const;
  // The order of steps and the weights in it, with sums of inputs where these have a zero point.
  std::optional<std::vector<int8_t>> stored_weights();
  // The first channels of tiles of so many, group by group.
  std::vector<int64_t> first_channels(int64_t size) const;
  // Sets the order of steps of a window.
  void order_steps();
  void make_panel_tables() { plane_.fits() ? plane_.make_tables() : spread_.make_tables(tile_); }
  // The work of filling the panel.
  Work pack_work_of(int64_t tile) const { return plane_.fits() ? plane_.work(tile) : spread_.work(tile); }
  // How, for the description: without the estimate.
  std::string text_of(const PairLines& lines) const;
  // `clamp`: the range of int8 results.
  Lowered finish(const char* algorithm, const std::string& how, ClampI32 clamp = {INT8_MIN, INT8_MAX});
  // Of all pixels, in tiles of so many whose product takes `product`.
  Work work_of(int64_t tile, const Work& product) const {
    return (product + pack_work_of(tile)) * static_cast<double>((pixels() + tile - 1) / tile);
  }
  // The weights of all groups of channels.
  void use_stream(const std::vector<int32_t>& stream, size_t groups);

  // int32 results, or nothing. The weights are stored_weights().
  std::optional<Lowered> run_sums(const std::vector<int8_t>& w);
  std::optional<Lowered> run_nibbles();
  NibbleTile choose_nibbles(bool sign);
  void make_nibbles(const std::vector<int8_t>& w, const NibbleLines& lines, const NibbleTile& tile);
  std::optional<Lowered> run_int16();
  void choose_tile();
  void make_halves(const HalvesScaling& scaling, const std::vector<int32_t>& bias);
  // Words of the kernel over words that are written out.
  int words_unroll() const {
    return target_.level == Level::kSpeed ? PairGemm::kWordsUnroll : PairGemm::kWordsUnrollLess;
  }
  bool words_worth(double saved) const;
  double bytes_of_words() const;  // the further bytes of weights as words
  void choose_kernel(bool pairs_fit, bool sign);
  void make_tables(const std::vector<int8_t>& w, const std::vector<int32_t>& bias, const PairLines& lines);
  // The kernel and the shapes of all tiles, which `of_tile` makes for tile_, and the tables of the panel.
  void make_kernels(const std::function<void(int64_t tiles)>& of_tile);
  void make_fours(const std::vector<int8_t>& w, const std::vector<int32_t>& bias, const PairLines& lines);
  void make_shapes(const Work& group, const std::function<std::vector<int32_t>(int64_t groups)>& shape);
  void emit();
  void emit_tiles(bool backwards);
  void emit_tile(const tir::Ex& first);
  void multiply(const tir::Ex& first);

  // What `body` does for a tile of so many pixels.
  template <typename Body>
  void for_tile(int64_t pixels, Body body) {
    const int64_t before = std::exchange(tile_, pixels);
    body();
    tile_ = before;
  }

  const OpView& op_;
  const ConvShape whole_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  GroupPlane plane_;      // of grouped convolutions
  const ConvShape conv_;  // what a panel is made for: all, or a group
  ConvPanel spread_;
  int64_t group_ = 2;  // channels at a time
  int64_t tile_ = 4, pairs_ = 1, stream_words_ = 0;
  int64_t rest_ = 0;                      // pixels behind the tiles that have a kernel of their own
  int64_t stored_k_ = 0, sum_steps_ = 0;  // with the sums of windows (cores/arm/dsp/window_sums.h)
  Work work_;
  bool words_ = false;
  double saved_ = 0;  // instructions, by words that are worth their bytes
  PairOrder order_;
  tir::KernelPtr gemm_;
  Turns turns_;  // of pairs_
  TurnTables shapes_;
  std::tuple<tir::KernelPtr, Turns, TurnTables, tir::BufferPtr> of_rest_;
  tir::BufferPtr in_, out_, panel_, stream_, last_shape_;
  // Where a group's weights begin, and its part of a band's results.
  tir::Ex stream_at_ = 0, out_at_ = 0;
};

}  // namespace aotc::cores::arm
