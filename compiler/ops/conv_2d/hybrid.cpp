// SPDX-License-Identifier: Apache-2.0
// conv_2d of float activations with int8 weights: a batch's image is quantised into scratch, then
// goes through the GEMM tile as int8 images do (lower.cpp), and every sum is scaled in float.
// Padding is the zero point, whose part in a sum is taken off again.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/conv_order.h"
#include "ops/common/gemm.h"
#include "ops/common/hybrid.h"
#include "ops/common/nibbles.h"
#include "ops/conv_2d/gather.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class HybridConvLowering {
 public:
  HybridConvLowering(const OpView& op, const TargetInfo& target)
      : op_(op),
        conv_(op),
        f_(op, "conv_2d"),
        asymmetric_(conv_rows_are_asymmetric(op)),
        rule_(op.attrs<Conv2DAttrs>().rounding) {
    nibbles_ = packs_nibbles(op, target);
    groups_ = conv_.in_channels / conv_.group_in;
    group_out_ = conv_.out_channels / groups_;
    image_ = op.operand(0).elements() / conv_.window.batch;
    constexpr int64_t kMostBlock = 8, kMostUnroll = 64;
    row_ = conv_.pointwise ? conv_.window.y.out * conv_.window.x.out : conv_.window.x.out;
    block_channels_ = target.wish("channels", std::min<int64_t>(target.gemm_channels, group_out_), 1,
                                  std::min(kMostBlock, group_out_));
    block_pixels_ =
        target.wish("pixels", choose_pixels(row_, target.gemm_pixels, block_channels_), 1, std::min(kMostBlock, row_));
    unroll_ = unroll_for(conv_.k, target.wish("unroll", target.gemm_unroll, 1, kMostUnroll));
  }

  Lowered run() {
    in_ = f_.operand(0);
    make_constants();
    int64_t panel = conv_.pointwise ? 0 : block_pixels_ * conv_.k;
    scratch_ = f_.scratch("quantised", DType::kI8, image_ + panel, 4);
    out_ = f_.result(0);
    publish_batches(f_, op_, conv_.window.batch);
    f_.loop("n", 0, conv_.window.batch, [&](Ex n) {
      RowRequest row{in_, f_.let("batch", n * image_), image_, asymmetric_, false, nullptr};
      row.rule = rule_;
      q_ = emit_quantize_row(f_, row, scratch_, 0);
      if (!asymmetric_) step_ = f_.let("step", q_.scale * load(scales_, 0));
      conv_.pointwise ? pointwise(n) : gathered(n);
    });
    f_.algorithm("tiles");
    f_.choice("pixels", block_pixels_);
    f_.choice("channels", block_channels_);
    f_.choice("unroll", unroll_);
    return f_.finish(fmt::format("rows quantised, {}{}", asymmetric_ ? "asymmetric" : "symmetric",
                                 nibbles_ ? ", weights of 4 bits" : ""));
  }

 private:
  void make_constants() {
    std::vector<int8_t> w = op_.constant(1)->to_vector<int8_t>(), packed;
    for (int64_t g = 0; g < groups_; ++g) {
      std::vector<int8_t> group(w.begin() + g * group_out_ * conv_.k, w.begin() + (g + 1) * group_out_ * conv_.k);
      auto pack = nibbles_ ? pack_nibbles : pack_weights<int8_t>;
      std::vector<int8_t> part = pack(group, group_out_, conv_.k, block_channels_);
      packed.insert(packed.end(), part.begin(), part.end());
    }
    group_packed_ = static_cast<int64_t>(packed.size()) / groups_;
    weights_ = f_.constant("weights", DType::kI8, packed);
    std::vector<float> bias, scales;
    for (int64_t c = 0; c < conv_.out_channels; ++c) bias.push_back(float_bias_at(op_, c));
    for (int64_t c = 0; c < (asymmetric_ ? conv_.out_channels : 1); ++c) scales.push_back(weight_scale(op_, c));
    bias_ = f_.constant("bias", DType::kF32, bias);
    scales_ = f_.constant("scales", DType::kF32, scales);
    if (asymmetric_) sums_ = f_.constant("sums", DType::kI32, weight_sums(op_, conv_.out_channels, conv_.k, 1));
  }

  static Ex clamp_start(const Ex& at, int64_t total, int64_t block) {
    return total % block == 0 ? at : min(at, Ex(total - block));
  }

  void pointwise(const Ex& n) {
    f_.loop(
        "p", 0, row_,
        [&](Ex p) {
          Ex first = f_.let("pixel", clamp_start(p, row_, block_pixels_));
          Ex base = f_.let("xi", first * conv_.k);
          channel_tiles(0, n * row_ + first, base);
        },
        block_pixels_);
  }

  void gathered(const Ex& n) {
    const WindowAxis& y = conv_.window.y;
    Windows windows{conv_, scratch_, scratch_, [this](const Ex& to, int64_t elements) { blank(to, elements); }};
    f_.loop("oy", 0, y.out, [&](Ex oy) {
      f_.loop(
          "ox", 0, row_,
          [&](Ex ox) {
            Ex first = f_.let("column", clamp_start(ox, row_, block_pixels_));
            f_.loop("g", 0, groups_, [&](Ex g) {
              f_.loop("i", 0, block_pixels_,
                      [&](Ex i) { gather_window(f_, windows, {Ex(0), oy, first + i, g}, i * conv_.k + image_); });
              channel_tiles(g, (n * y.out + oy) * row_ + first, image_);
            });
          },
          block_pixels_);
    });
  }

  void blank(const Ex& to, int64_t elements) {
    if (!asymmetric_) return f_.fill_bytes(scratch_, to, 0, elements);
    f_.loop("b", 0, elements, [&](Ex b) { f_.store(scratch_, to + b, q_.zero); });
  }

  // All output channels of group g for the block of pixels that starts at `pixel`.
  void channel_tiles(const Ex& g, const Ex& pixel, const Ex& x_base) {
    Ex at = f_.let("at", pixel);
    f_.loop(
        "c", 0, group_out_,
        [&](Ex c) {
          Ex first = f_.let("channel", clamp_start(c, group_out_, block_channels_) + g * group_out_);
          GemmTile tile;
          tile.k = conv_.k;
          tile.pixels = block_pixels_;
          tile.channels = block_channels_;
          tile.unroll = unroll_;
          tile.x = scratch_;
          for (int64_t i = 0; i < block_pixels_; ++i) tile.x_base.push_back(x_base + i * conv_.k);
          tile.weights = weights_;
          // c is a multiple of the block, so tile number * (k * C) is c * k.
          tile.nibbles = nibbles_;
          tile.weights_base = f_.let("wi", g * group_packed_ + c * (nibbles_ ? nibble_bytes(conv_.k) : conv_.k));
          emit_tile(tile, at, first);
        },
        block_channels_);
  }

  void emit_tile(const GemmTile& tile, const Ex& pixel, const Ex& channel) {
    std::vector<Ex> acc = emit_gemm_tile(f_, tile, [](int64_t, int64_t) { return Ex(0); });
    ClampF32 range = float_clamp(op_.attrs<Conv2DAttrs>().activation);
    Ex base = f_.let("to", pixel * conv_.out_channels + channel);
    for (int64_t c = 0; c < tile.channels; ++c) {
      Ex bias = f_.let("bias", load(bias_, channel + c));
      Ex zeros, scale;
      if (asymmetric_) {
        zeros = f_.let("zeros", q_.zero * load(sums_, channel + c));
        scale = f_.let("scale", load(scales_, channel + c));
        if (rule_ == RoundingRule::kOnnxruntime) scale = f_.let("step", q_.scale * scale);
      }
      for (int64_t p = 0; p < tile.pixels; ++p) {
        const Ex& a = acc[static_cast<size_t>(p * tile.channels + c)];
        Ex v = cast(DType::kF32, asymmetric_ ? a - zeros : a) * (asymmetric_ ? scale : step_);
        if (asymmetric_ && rule_ == RoundingRule::kLitert) v = v * q_.scale;
        f_.store(out_, base + (p * conv_.out_channels + c), emit_clamp(f_.let("v", v + bias), range));
      }
    }
  }

  const OpView& op_;
  ConvShape conv_;
  LoweringBuilder f_;
  bool asymmetric_, nibbles_ = false;
  RoundingRule rule_;
  int64_t groups_ = 1, group_out_ = 1, image_ = 1, row_ = 1, group_packed_ = 0;
  int64_t block_pixels_ = 1, block_channels_ = 1, unroll_ = 4;
  BufferPtr in_, out_, scratch_, weights_, bias_, scales_, sums_;
  RowQuantization q_;
  Ex step_;
};

}  // namespace

// The reference takes the same scale for all channels as one, and knows groups in one way only.
bool conv_rows_are_asymmetric(const OpView& op) {
  if (op.attrs<Conv2DAttrs>().rounding == RoundingRule::kOnnxruntime) return true;
  const std::vector<float>& scales = op.operand(1).quantization.scale;
  return ConvShape(op).grouped() || std::any_of(scales.begin(), scales.end(), [&](float s) { return s != scales[0]; });
}

Lowered lower_conv_2d_hybrid(const OpView& op, const TargetInfo& target) {
  return HybridConvLowering(op, target).run();
}

}  // namespace aotc::ops
