// SPDX-License-Identifier: Apache-2.0
// Lowering of fully_connected onto the GEMM tile: rows of the input are its pixels. A single row is
// multiplied with four units at a time, which is the fewest loads per product for its registers.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/conv.h"
#include "ops/common/conv_order.h"
#include "ops/common/gemm.h"
#include "ops/common/hybrid.h"
#include "ops/common/integer_weights.h"
#include "ops/common/nibbles.h"
#include "ops/fully_connected/fully_connected.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class FullyConnectedLowering {
 public:
  FullyConnectedLowering(const OpView& op, const TargetInfo& target)
      : op_(op),
        target_(target),
        f_(op, "fully_connected"),
        units_(op.operand(1).shape[0]),
        depth_(op.operand(1).shape[1]),
        rows_(op.operand(0).elements() / depth_),
        is_float_(op.operand(0).dtype == DType::kF32),
        nibbles_(packs_nibbles(op, target)),
        activation_(op.attrs<FullyConnectedAttrs>().activation) {
    // Larger blocks would not fit any CPU's registers.
    constexpr int64_t kMostBlock = 8, kMostUnroll = 64;
    block_rows_ = target.wish("rows", std::min<int64_t>(target.gemm_pixels, rows_), 1, std::min(kMostBlock, rows_));
    // A single row has few accumulators: registers are left for several steps at once.
    unroll_ = unroll_for(depth_, target.wish("unroll", block_rows_ == 1 ? 4 : target.gemm_unroll, 1, kMostUnroll));
    block_units_ = target.wish("units", std::min<int64_t>(block_rows_ == 1 ? 4 : target.gemm_channels, units_), 1,
                               std::min(kMostBlock, units_));
  }

  Lowered run() {
    in_ = f_.operand(0);
    make_constants();
    out_ = f_.result(0);
    if (requantizer_) requantizer_->begin(f_);
    if (wide_) wide_->begin(f_);
    publish_rows();
    f_.loop(
        "r", 0, rows_,
        [&](Ex r) {
          Ex row = f_.let("row", min_start(r, rows_, block_rows_));
          f_.loop("u", 0, units_, [&](Ex u) { emit_tile(row, u); }, block_units_);
        },
        block_rows_);
    f_.algorithm("tiles");
    f_.choice("rows", block_rows_);
    f_.choice("units", block_units_);
    f_.choice("unroll", unroll_);
    std::string how(is_float_ ? (scales_ ? "integer weights" : "") : wide_ ? wide_->form() : requantizer_->form());
    return f_.finish(how + (nibbles_ ? ", weights of 4 bits" : ""));
  }

 private:
  void make_constants() {
    if (is_float_) {
      const auto weights = op_.constant(1)->to_vector<float>();
      const int64_t tiles = (rows_ + block_rows_ - 1) / block_rows_;
      if (const auto found = stored_as_integers(op_, weights, units_, tiles, target_)) {
        nibbles_ = found->nibbles && target_.level != Level::kSpeed;
        auto pack = nibbles_ ? pack_nibbles : pack_weights<int8_t>;
        weights_ = f_.constant("weights", DType::kI8, pack(found->values, units_, depth_, block_units_));
        scales_ = f_.constant("scales", DType::kF32, found->scales);
      } else {
        weights_ = f_.constant("weights", DType::kF32, pack_weights(weights, units_, depth_, block_units_));
      }
      if (op_.has_operand(2) && !op_.constant(2)) {
        bias_ = f_.operand(2);
        return;
      }
      std::vector<float> bias;
      for (int64_t u = 0; u < units_; ++u) bias.push_back(float_bias_at(op_, u));
      bias_ = f_.constant("bias", DType::kF32, bias);
      return;
    }
    std::vector<int16_t> w = centred_weights(op_);
    if (nibbles_) {
      weights_ = f_.constant("weights", DType::kI8,
                             pack_nibbles(op_.constant(1)->to_vector<int8_t>(), units_, depth_, block_units_));
    } else {
      weights_ = weights_constant(f_, "weights", pack_weights(w, units_, depth_, block_units_));
    }
    if (in_->dtype == DType::kI16) {
      WideScaling scaling = fully_connected_wide_scaling(op_);
      bias_ = wide_bias(f_, scaling);
      wide_.emplace(f_, scaling);
      return;
    }
    auto [folded, scaling] = folded_scaling(op_, w);
    bias_ = f_.constant("bias", DType::kI32, folded.bias);
    requantizer_.emplace(f_, scaling);
  }

  // A tile reads its rows over and over while it writes its results.
  void publish_rows() {
    if (rows_ == block_rows_) return;
    PixelBytes bytes{depth_ * size_of(in_->dtype), units_ * size_of(out_->dtype)};
    if (auto order = pointwise_order(rows_, block_rows_, bytes, false, true)) f_.publish(std::move(*order));
  }

  // The first index of the tile that starts at `at`, moved back at the end so that it fits.
  static Ex min_start(const Ex& at, int64_t total, int64_t block) {
    return total % block == 0 ? at : min(at, Ex(total - block));
  }

  void emit_tile(const Ex& row, const Ex& u) {
    Ex unit = f_.let("unit", min_start(u, units_, block_units_));
    GemmTile tile;
    tile.k = depth_;
    tile.pixels = block_rows_;
    tile.channels = block_units_;
    tile.unroll = unroll_;
    tile.x = in_;
    for (int64_t p = 0; p < block_rows_; ++p) tile.x_base.push_back((row + p) * depth_);
    tile.weights = weights_;
    tile.nibbles = nibbles_;
    for (int64_t i = 0; scales_ && i < block_units_; ++i)
      tile.scales.push_back(f_.let("scale", load(scales_, unit + i)));
    // u is a multiple of the block, so tile number * (depth * block) is u * depth.
    tile.weights_base = f_.let("wi", u * (nibbles_ ? nibble_bytes(depth_) : depth_));
    std::vector<Ex> acc = emit_gemm_tile(
        f_, tile, [&](int64_t, int64_t c) { return is_float_ ? tir::f32(0.0f) : load(bias_, unit + c); });
    Ex base = f_.let("to", row * units_ + unit);
    for (int64_t c = 0; c < block_units_; ++c) {
      Requantizer::Channel scale;
      WideRequantizer::Channel wide;
      if (wide_) wide = wide_->prepare(f_, unit + c);
      if (requantizer_) scale = requantizer_->prepare(f_, unit + c);
      for (int64_t p = 0; p < block_rows_; ++p) {
        const Ex& a = acc[static_cast<size_t>(p * block_units_ + c)];
        Ex v = is_float_ ? emit_clamp(a + load(bias_, unit + c), float_clamp(activation_))
               : wide_   ? wide_->emit(f_, a, wide)
                         : requantizer_->emit(f_, a, scale);
        f_.store(out_, base + (p * units_ + c), v);
      }
    }
  }

  const OpView& op_;
  const TargetInfo& target_;
  LoweringBuilder f_;
  int64_t units_, depth_, rows_;
  int64_t block_rows_ = 1, unroll_ = 4, block_units_ = 1;
  bool is_float_, nibbles_;
  Activation activation_;
  BufferPtr in_, out_, weights_, bias_;
  BufferPtr scales_;  // of float weights that are stored as integers
  std::optional<Requantizer> requantizer_;
  std::optional<WideRequantizer> wide_;  // int16
};

}  // namespace

Lowered lower_fully_connected(const OpView& op, const TargetInfo& target) {
  if (is_hybrid(op)) return lower_fully_connected_hybrid(op, target);
  if (op.operand(0).dtype == DType::kI8 && target.allows("quads") && !packs_nibbles(op, target))
    if (auto lowered = lower_fully_connected_quad(op, target)) return std::move(*lowered);
  return FullyConnectedLowering(op, target).run();
}

}  // namespace aotc::ops
