// SPDX-License-Identifier: Apache-2.0
// Lowering of int8 transpose_conv onto the pair kernels (cores/arm/dsp/gemm.h): the windows of a tile of
// neighbouring results of one phase are spread into a panel, and one kernel call makes all their channels,
// `stride` pixels apart. Phases share their code and one requantisation; their weights and biases follow
// each other in the stream.
#include <algorithm>

#include <fmt/format.h>

#include "cores/arm/dsp/gemm.h"
#include "cores/arm/dsp/lowerings.h"
#include "cores/arm/generated/dsp_clamp.h"
#include "ops/common/conv.h"
#include "ops/common/gemm.h"
#include "ops/transpose_conv/transpose_conv.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

class DspTransposeLowering {
 public:
  DspTransposeLowering(const OpView& op, const TargetInfo& target)
      : op_(op),
        s_(op),
        f_(op, "transpose_conv"),
        target_(target),
        rows_(groups_of(s_.y)),
        columns_(groups_of(s_.x)),
        tap_words_(s_.in_channels / 4) {}

  // Nothing where the kernels do not apply.
  std::optional<Lowered> run() {
    bool every_phase = rows_.back().taps > 0 && columns_.back().taps > 0;
    if (s_.in_channels % 4 != 0 || s_.out_channels < 2 || !every_phase) return std::nullopt;
    std::optional<PairLines> lines = prepare();
    if (!lines) return std::nullopt;
    sign_ = lines->sign();
    choose_tile();
    in_ = f_.operand(0);
    make_stream(*lines);
    panel_ = f_.scratch("panel", DType::kI32, 2 * rows_[0].taps * columns_[0].taps * tap_words_ * tile_, 4);
    out_ = f_.result();
    gemm_ = gemm_pairs_kernel(tile_, lines->fit.shift, sign_);
    f_.loop("n", 0, s_.batch, [&](Ex n) { f_.loop("oy", 0, s_.y.out, [&](Ex oy) { row(n, oy); }); });
    work_ += emit_byte_clamp(f_, out_, lines->clamp, target_);
    f_.algorithm("pairs");
    f_.choice("pixels", tile_);
    f_.estimate(work_, target_);
    return f_.finish(fmt::format("phases, shift {}{}", lines->fit.shift, sign_ ? ", sign" : ""));
  }

 private:
  struct Phase {
    std::vector<int8_t> weights;
    int64_t k = 0;
  };

  // Weights and biases of all phases, and a line for every channel of each.
  std::optional<PairLines> prepare() {
    const std::vector<int16_t> centred = ops::centred_weights(op_);
    if (std::any_of(centred.begin(), centred.end(), [](int16_t v) { return v < -128 || v > 127; })) return std::nullopt;
    const std::vector<int8_t> w(centred.begin(), centred.end());
    std::vector<double> scales = conv_scales(op_.operand(0), op_.operand(1), op_.result(), s_.out_channels);
    Requantization what;
    what.zero_point = op_.result().zero_point();
    what.clamp = quantized_clamp(op_.attrs<TransposeConvAttrs>().activation, op_.result());
    for_each_phase(s_, [&](int64_t py, int64_t px) {
      Phase phase{phase_weights(s_, w, py, px), s_.y.taps(py) * s_.x.taps(px) * s_.in_channels};
      FoldedBias folded = fold_bias(op_, s_.out_channels, [&](int64_t c) {
        auto first = phase.weights.begin() + c * phase.k;
        return std::vector<int32_t>(first, first + phase.k);
      });
      what.scales.insert(what.scales.end(), scales.begin(), scales.end());
      what.ranges.insert(what.ranges.end(), folded.ranges.begin(), folded.ranges.end());
      bias_.insert(bias_.end(), folded.bias.begin(), folded.bias.end());
      phases_.push_back(std::move(phase));
    });
    what.tame_constant_channels(bias_);
    auto lines = fit_pair_lines(what, bias_);
    const std::vector<int64_t> first = tile_starts(s_.out_channels, 2);
    for (size_t i = 0; lines && i < phases_.size(); ++i)
      if (!pairs_fit(phases_[i].weights, first, 2, phases_[i].k, lines_of(*lines, i))) return std::nullopt;
    return lines;
  }

  // Of one phase.
  PairLines lines_of(const PairLines& lines, size_t phase) const {
    PairLines out = lines;
    const auto begin = static_cast<std::ptrdiff_t>(phase) * s_.out_channels;
    if (lines.fit.channels.size() > 1)
      out.fit.channels.assign(lines.fit.channels.begin() + begin, lines.fit.channels.begin() + begin + s_.out_channels);
    return out;
  }

  void choose_tile() {
    int64_t most = 4, per_row = 0;
    for (int64_t phase = 0; phase < s_.x.stride; ++phase) {
      if (s_.x.count(phase) > 0) most = std::min(most, s_.x.count(phase));
      per_row = std::max(per_row, s_.x.count(phase));
    }
    GemmShape shape{per_row, rows_[0].taps, columns_[0].taps * tap_words_, 0, s_.out_channels};
    double least = 0;
    for (int64_t p = most; p >= 1; --p) {
      double cost = target_.costs.of(shape.work(false, p, sign_));
      if (least > 0 && cost >= least) continue;
      least = cost;
      tile_ = p;
    }
    tile_ = target_.wish("pixels", tile_, 1, most);
    for (const PhaseGroup& y : rows_)
      for (const PhaseGroup& x : columns_) {
        GemmShape part{per_row, y.taps, x.taps * tap_words_, 0, s_.out_channels};
        auto times = static_cast<double>(s_.batch * s_.y.out * y.size() * x.size()) / static_cast<double>(s_.y.stride);
        work_ = work_ + part.work(false, tile_, sign_) * times;
      }
  }

  void make_stream(const PairLines& lines) {
    std::vector<int64_t> first = tile_starts(s_.out_channels, 2);
    std::vector<int32_t> all;
    for (size_t i = 0; i < phases_.size(); ++i) {
      PairOrder order;
      for (int at = 0; at < phases_[i].k; at += 4) {
        order.push_back({at, at + 2});
        order.push_back({at + 1, at + 3});
      }
      auto begin = static_cast<std::ptrdiff_t>(i) * s_.out_channels;
      std::vector<int32_t> bias(bias_.begin() + begin, bias_.begin() + begin + s_.out_channels);
      std::vector<int32_t> stream =
          gemm_stream(phases_[i].weights, phases_[i].k, order, first, bias, lines_of(lines, i));
      sizes_.push_back(static_cast<int64_t>(stream.size()));
      all.insert(all.end(), stream.begin(), stream.end());
    }
    stream_ = f_.constant("stream", DType::kI32, all);
  }

  // ---- loops

  void row(const Ex& n, const Ex& oy) {
    Ex q = f_.let("qy", (oy + s_.y.pad) / s_.y.stride);
    Ex phase = f_.let("py", (oy + s_.y.pad) % s_.y.stride);
    size_t number = 0;
    int64_t before = 0;
    for (size_t g = 0; g < rows_.size(); ++g) {
      const PhaseGroup& y = rows_[g];
      auto body = [&] {
        for (const PhaseGroup& x : columns_) {
          columns(n, oy, q, y, x, f_.let("si", (phase - y.begin) * (x.size() * sizes_[number]) + before),
                  sizes_[number]);
          before += y.size() * x.size() * sizes_[number];
          number += static_cast<size_t>(y.size() * x.size());
        }
      };
      if (rows_.size() == 1) {
        body();
      } else {
        f_.if_(g == 0 ? phase < y.end : phase >= y.begin, body);
      }
    }
  }

  // One row of a group of rows: the phases of a group of columns. `stream` is where those of this row
  // begin, each `size` words long.
  void columns(const Ex& n, const Ex& oy, const Ex& qy, const PhaseGroup& y, const PhaseGroup& x, const Ex& stream,
               int64_t size) {
    int64_t steps = 2 * y.taps * x.taps * tap_words_, pairs = s_.out_channels / 2;
    int64_t distance = s_.x.stride * s_.out_channels;
    Call call{y, x, {}, {}, {}};
    call.shape = f_.constant("shape", DType::kI32, gemm_shape(steps, pairs, distance, tile_, sign_));
    if (s_.out_channels % 2 == 1)
      call.last = f_.constant("last_shape", DType::kI32, gemm_shape(steps, 1, distance, tile_, sign_));
    std::vector<int32_t> pack(4);
    pack[PairGemm::kPackPixelStride] = static_cast<int32_t>(s_.in_channels);
    pack[PairGemm::kPackWords] = static_cast<int32_t>(x.taps * tap_words_);
    pack[PairGemm::kPackRows] = static_cast<int32_t>(y.taps);
    pack[PairGemm::kPackRowSkip] = static_cast<int32_t>((s_.x.in - x.taps) * s_.in_channels);
    call.pack = f_.constant("pack", DType::kI32, pack);
    std::vector<int32_t> firsts, counts;
    for (int64_t px = x.begin; px < x.end; ++px) {
      firsts.push_back(static_cast<int32_t>(s_.x.first(px)));
      counts.push_back(static_cast<int32_t>(s_.x.count(px)));
    }
    bool several = firsts.size() > 1;
    BufferPtr first_of = several ? f_.constant("firsts", DType::kI32, firsts) : nullptr;
    BufferPtr count_of = several ? f_.constant("counts", DType::kI32, counts) : nullptr;
    f_.loop("px", 0, x.size(), [&](Ex i) {
      Ex first = f_.let("ox", several ? load(first_of, i) : Ex(firsts[0]));
      Ex count = f_.let("count", several ? load(count_of, i) : Ex(counts[0]));
      Ex words = f_.let("words", stream + i * size);
      Ex qx = f_.let("qx", (first + s_.x.pad) / s_.x.stride);
      f_.loop(
          "block", 0, count,
          [&](Ex block) {
            Ex at = f_.let("column", min(block, count - tile_));
            Ex top = f_.let("top", qy - (y.taps - 1)), left = f_.let("left", qx + at - (x.taps - 1));
            spread(call, n, top, left);
            Ex pixel = (n * s_.y.out + oy) * s_.x.out + first + at * s_.x.stride;
            multiply(call, words, size, f_.let("to", pixel * s_.out_channels));
          },
          tile_);
    });
  }

  struct Call {
    const PhaseGroup& y;
    const PhaseGroup& x;
    BufferPtr shape, last, pack;
  };

  void multiply(const Call& call, const Ex& stream, int64_t size, const Ex& to) {
    f_.run(gemm_, {address(stream_, stream), address(panel_, 0), address(out_, to), address(call.shape, 0)});
    if (!call.last) return;
    // An odd last channel is made again with the one before it.
    int64_t pairs = s_.out_channels / 2, pair = size / (pairs + 1);
    f_.run(gemm_, {address(stream_, stream + pairs * pair), address(panel_, 0),
                   address(out_, to + (s_.out_channels - 2)), address(call.last, 0)});
  }

  // The windows of a tile into the panel; `left` is that of its first pixel.
  void spread(const Call& call, const Ex& n, const Ex& top, const Ex& left) {
    Ex inside = lies_inside(top, call.y.taps, s_.y.in) && lies_inside(left, call.x.taps + tile_ - 1, s_.x.in);
    f_.if_(
        inside,
        [&] {
          f_.run(pack_pixels_kernel(tile_), {address(in_, ((n * s_.y.in + top) * s_.x.in + left) * s_.in_channels),
                                             address(panel_, 0), address(call.pack, 0)});
        },
        [&] {
          f_.loop("i", 0, tile_, [&](Ex i) {
            f_.loop("ty", 0, call.y.taps, [&](Ex ty) {
              f_.loop("tx", 0, call.x.taps, [&](Ex tx) {
                tap(n, f_.let("iy", top + ty), f_.let("ix", left + i + tx),
                    f_.let("to", (ty * call.x.taps + tx) * (2 * tap_words_ * tile_) + i));
              });
            });
          });
        });
  }

  void tap(const Ex& n, const Ex& iy, const Ex& ix, const Ex& to) {
    f_.if_(
        iy >= 0 && iy < s_.y.in && ix >= 0 && ix < s_.x.in,
        [&] {
          f_.run(pack_run_kernel(tile_), {address(in_, ((n * s_.y.in + iy) * s_.x.in + ix) * s_.in_channels),
                                          address(panel_, to), Ex(tap_words_)});
        },
        [&] {
          auto half = static_cast<uint32_t>(op_.operand(0).zero_point()) & 0xFFFF;
          Ex blank = static_cast<int64_t>(static_cast<int32_t>(half << 16 | half));
          f_.loop("s", 0, 2 * tap_words_, [&](Ex s) { f_.store(panel_, to + s * tile_, blank); });
        });
  }

  const OpView& op_;
  const TransposeShape s_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  std::vector<PhaseGroup> rows_, columns_;
  int64_t tap_words_, tile_ = 1;
  bool sign_ = false;
  std::vector<Phase> phases_;
  std::vector<int32_t> bias_;
  std::vector<int64_t> sizes_;  // words of each phase's stream
  Work work_;
  tir::KernelPtr gemm_;
  BufferPtr in_, out_, panel_, stream_;
};

}  // namespace

std::optional<Lowered> lower_transpose_conv_dsp(const OpView& op, const TargetInfo& target) {
  return DspTransposeLowering(op, target).run();
}

}  // namespace aotc::cores::arm
