// SPDX-License-Identifier: Apache-2.0
// conv_2d of float activations with int8 weights on cores with the DSP extension: a batch's image
// is quantised into words of two neighbouring elements, less their zero point, so that padding is
// 0. The windows of a few neighbouring outputs are copied into a panel of such words, and one
// kernel call (cores/arm/dsp/gemm.h) sums all their channels.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "cores/arm/dsp/gemm.h"
#include "cores/arm/dsp/lowerings.h"
#include "ops/common/gemm.h"
#include "ops/common/hybrid.h"
#include "ops/conv_2d/shape.h"

namespace aotc::cores::arm {

using ops::RoundingRule;
using tir::BufferPtr;
using tir::Ex;

namespace {

class HybridPairsLowering {
 public:
  HybridPairsLowering(const OpView& op, const TargetInfo& target)
      : op_(op), conv_(op), f_(op, "conv_2d"), asymmetric_(conv_rows_are_asymmetric(op)) {
    image_ = op.operand(0).elements() / conv_.window.batch;
    steps_ = conv_.k / 2;
    pairs_ = (conv_.out_channels + 1) / 2;
    row_ = conv_.pointwise ? conv_.window.y.out * conv_.window.x.out : conv_.window.x.out;
    int64_t most = std::min<int64_t>(4, row_);
    tile_ = target.wish("pixels", most, 1, most);
  }

  // Nothing where the kernel does not apply.
  std::optional<Lowered> run() {
    if (conv_.grouped() || conv_.in_channels % 2 != 0 || conv_.window.x.dilation != 1 || conv_.out_channels < 2)
      return std::nullopt;
    std::vector<int8_t> w = op_.constant(1)->to_vector<int8_t>();
    if (!pairs_fit(w, conv_.out_channels, conv_.k) || !sums_fit(w)) return std::nullopt;
    in_ = f_.operand(0);
    make_constants(w);
    panel_ = image_ / 2;
    sums_ = panel_ + steps_ * tile_;
    words_ = f_.scratch("words", DType::kI32, sums_ + tile_ * pairs_ * 2, 4);
    out_ = f_.result(0);
    publish_batches(f_, op_, conv_.window.batch);
    f_.loop("n", 0, conv_.window.batch, [&](Ex n) {
      quantize(n);
      if (conv_.pointwise) return emit_row(0, n * row_);
      const int64_t rows = conv_.window.y.out;
      f_.loop("oy", 0, rows, [&](Ex oy) { emit_row(oy, (n * rows + oy) * row_); });
    });
    f_.algorithm("pairs");
    f_.choice("pixels", tile_);
    return f_.finish(fmt::format("{} steps, rows quantised, {}", steps_, asymmetric_ ? "asymmetric" : "symmetric"));
  }

 private:
  // Sums come out of the upper 24 bits of an accumulator. Elements span 255 at most.
  bool sums_fit(const std::vector<int8_t>& w) const {
    for (size_t at = 0; at < w.size(); at += static_cast<size_t>(conv_.k)) {
      int64_t above = 0, below = 0;
      for (size_t i = at; i < at + static_cast<size_t>(conv_.k); ++i)
        (w[i] > 0 ? above : below) += std::abs(static_cast<int64_t>(w[i]));
      if ((asymmetric_ ? 255 * std::max(above, below) : 127 * (above + below)) >= 1 << 23) return false;
    }
    return true;
  }

  void make_constants(const std::vector<int8_t>& w) {
    PairOrder order;
    for (int i = 0; i < conv_.k; i += 2) order.push_back({i, i + 1});
    stream_ =
        f_.constant("stream", DType::kI32, gemm_sums_stream(w, conv_.k, order, tile_starts(conv_.out_channels, 2)));
    shape_ = f_.constant("shape", DType::kI32, gemm_sums_shape(steps_, pairs_, pairs_ * 8, tile_));
    std::vector<float> bias, scales;
    for (int64_t c = 0; c < conv_.out_channels; ++c) bias.push_back(float_bias_at(op_, c));
    for (int64_t c = 0; c < (asymmetric_ ? conv_.out_channels : 1); ++c) scales.push_back(weight_scale(op_, c));
    bias_ = f_.constant("bias", DType::kF32, bias);
    scales_ = f_.constant("scales", DType::kF32, scales);
  }

  void quantize(const Ex& n) {
    RowRequest row{in_, f_.let("batch", n * image_), image_, asymmetric_, true, nullptr};
    row.rule = op_.attrs<Conv2DAttrs>().rounding;
    row.store = [this](const Ex& i, const std::vector<Ex>& q) {
      Ex at = f_.let("at", i >> 1);
      for (size_t u = 0; u < q.size(); u += 2)
        f_.store(words_, at + static_cast<int64_t>(u / 2), pair_word(q[u], q[u + 1]));
    };
    q_ = emit_quantize_row(f_, row);
    if (!asymmetric_) step_ = f_.let("step", q_.scale * load(scales_, 0));
  }

  // A row of outputs, the first of which is pixel `pixel`.
  void emit_row(const Ex& oy, const Ex& pixel) {
    Ex base = f_.let("base", pixel);
    f_.loop(
        "ox", 0, row_,
        [&](Ex ox) {
          Ex first = f_.let("column", row_ % tile_ == 0 ? ox : min(ox, Ex(row_ - tile_)));
          conv_.pointwise ? copy_row(first * steps_, 0, steps_) : gather(oy, first);
          f_.run(gemm_sums_kernel(tile_),
                 {address(stream_, 0), address(words_, panel_), address(words_, sums_), address(shape_, 0)});
          emit_results(f_.let("to", (base + first) * conv_.out_channels));
        },
        tile_);
  }

  // `count` words of every pixel's window, from step `step` on; `from` is the first pixel's first
  // word.
  void copy_row(const Ex& from, const Ex& step, int64_t count) {
    const int64_t stride = conv_.window.x.stride * conv_.in_channels / 2;
    Ex at = f_.let("from", from), to = f_.let("panel", step * tile_ + panel_);
    f_.loop("j", 0, count, [&](Ex j) {
      for (int64_t p = 0; p < tile_; ++p) f_.store(words_, to + j * tile_ + p, load(words_, at + j + p * stride));
    });
  }

  void blank(const Ex& to, int64_t count, int64_t step) {
    f_.loop("b", 0, count, [&](Ex b) { f_.store(words_, to + b * step, 0); });
  }

  void gather(const Ex& oy, const Ex& ox) {
    const WindowAxis& y = conv_.window.y;
    const WindowAxis& x = conv_.window.x;
    const int64_t depth = conv_.in_channels / 2, row_words = x.kernel * depth;
    Ex top = f_.let("top", oy * y.stride - y.pad_before);
    Ex left = f_.let("left", ox * x.stride - x.pad_before);
    f_.loop("ky", 0, y.kernel, [&](Ex ky) {
      Ex iy = f_.let("iy", top + ky * y.dilation);
      Ex step = f_.let("step_of_row", ky * row_words);
      auto row = [&] {
        Ex whole = left >= 0 && left + ((tile_ - 1) * x.stride + x.kernel) <= x.in;
        f_.if_(
            whole, [&] { copy_row((iy * x.in + left) * depth, step, row_words); },
            [&] { gather_taps(iy, left, step); });
      };
      f_.if_(iy >= 0 && iy < y.in, row, [&] { blank(f_.let("panel", step * tile_ + panel_), row_words * tile_, 1); });
    });
  }

  // A row of the windows where some reach beyond the image: tap by tap.
  void gather_taps(const Ex& iy, const Ex& left, const Ex& step) {
    const WindowAxis& x = conv_.window.x;
    const int64_t depth = conv_.in_channels / 2;
    f_.loop("p", 0, tile_, [&](Ex p) {
      f_.loop("kx", 0, x.kernel, [&](Ex kx) {
        Ex ix = f_.let("ix", left + p * x.stride + kx);
        Ex to = f_.let("panel", (step + kx * depth) * tile_ + p + panel_);
        f_.if_(
            ix >= 0 && ix < x.in,
            [&] {
              Ex from = f_.let("from", (iy * x.in + ix) * depth);
              f_.loop("j", 0, depth, [&](Ex j) { f_.store(words_, to + j * tile_, load(words_, from + j)); });
            },
            [&] { blank(to, depth, tile_); });
      });
    });
  }

  void emit_results(const Ex& to) {
    const int64_t whole = conv_.out_channels / 2 * 2;
    f_.loop("c", 0, whole, [&](Ex c) { emit_channel(to, c, c); });
    // An odd last channel is the second of a pair with the one before it.
    if (whole < conv_.out_channels) emit_channel(to, whole, 2 * pairs_ - 1);
  }

  // Of all pixels of the tile; `at` is where the channel's sum stands among a pixel's.
  void emit_channel(const Ex& to, const Ex& channel, const Ex& at) {
    ClampF32 range = float_clamp(op_.attrs<Conv2DAttrs>().activation);
    Ex bias = f_.let("bias", load(bias_, channel));
    const bool twice = asymmetric_ && op_.attrs<Conv2DAttrs>().rounding == RoundingRule::kLitert;
    Ex scale = step_;
    if (asymmetric_) scale = f_.let("scale", twice ? load(scales_, channel) : q_.scale * load(scales_, channel));
    for (int64_t p = 0; p < tile_; ++p) {
      Ex sum = cast(DType::kF32, load(words_, at + (sums_ + p * pairs_ * 2)));
      Ex v = f_.let("v", (twice ? sum * scale * q_.scale : sum * scale) + bias);
      f_.store(out_, to + channel + p * conv_.out_channels, emit_clamp(v, range));
    }
  }

  const OpView& op_;
  const ConvShape conv_;
  LoweringBuilder f_;
  bool asymmetric_;
  int64_t image_, steps_, pairs_, row_, tile_, panel_ = 0, sums_ = 0;
  BufferPtr in_, out_, words_, stream_, shape_, bias_, scales_;
  RowQuantization q_;
  Ex step_;
};

}  // namespace

std::optional<Lowered> lower_conv_2d_hybrid_dsp(const OpView& op, const TargetInfo& target) {
  return HybridPairsLowering(op, target).run();
}

}  // namespace aotc::cores::arm
