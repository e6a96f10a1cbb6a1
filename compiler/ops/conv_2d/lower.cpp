// SPDX-License-Identifier: Apache-2.0
// Lowering of conv_2d onto the GEMM tile. A pointwise convolution reads its pixels where they are;
// any other first gathers the windows of P neighbouring outputs into a scratch panel, where padding
// is the zero point (so it adds nothing once the zero point is folded into the bias), and the tile
// loop then has no border case.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/conv_order.h"
#include "ops/common/conv_taps.h"
#include "ops/common/gemm.h"
#include "ops/common/hybrid.h"
#include "ops/common/integer_weights.h"
#include "ops/common/nibbles.h"
#include "ops/conv_2d/gather.h"
#include "ops/conv_2d/shape.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class ConvLowering {
 public:
  ConvLowering(const OpView& op, const TargetInfo& target) : op_(op), conv_(op), f_(op, "conv_2d"), target_(target) {
    groups_ = conv_.in_channels / conv_.group_in;
    group_out_ = conv_.out_channels / groups_;
    is_float_ = op.operand(0).dtype == DType::kF32;
    is_int16_ = op.operand(0).dtype == DType::kI16;
    nibbles_ = packs_nibbles(op, target);
  }

  Lowered run() {
    const WindowAxis& y = conv_.window.y;
    const WindowAxis& x = conv_.window.x;
    int64_t row = conv_.pointwise ? conv_.window.batch * y.out * x.out : x.out;
    block_channels_ = target_.wish("channels", std::min<int64_t>(target_.gemm_channels, group_out_), 1,
                                   std::min(kMostBlock, group_out_));
    block_pixels_ =
        target_.wish("pixels", choose_pixels(row, target_.gemm_pixels, block_channels_), 1, std::min(kMostBlock, row));
    unroll_ = unroll_for(conv_.k, target_.wish("unroll", target_.gemm_unroll, 1, kMostUnroll));
    in_ = f_.operand(0);
    make_constants();
    if (!conv_.pointwise) panel_ = f_.scratch("panel", in_->dtype, block_pixels_ * conv_.k, 4);
    out_ = f_.result(0);
    if (requantizer_) requantizer_->begin(f_);
    if (wide_) wide_->begin(f_);
    if (conv_.pointwise) {
      lower_pointwise(row);
    } else {
      lower_gathered();
    }
    f_.algorithm("tiles");
    f_.choice("pixels", block_pixels_);
    f_.choice("channels", block_channels_);
    f_.choice("unroll", unroll_);
    std::string how = conv_.pointwise ? "in place" : "gathered panel";
    if (requantizer_) how += fmt::format(", {}", requantizer_->form());
    if (wide_) how += fmt::format(", {}", wide_->form());
    if (scales_) how += ", integer weights";
    if (nibbles_) how += ", weights of 4 bits";
    if (correction_ != 0) how += ", sums of inputs";
    return f_.finish(how);
  }

 private:
  void make_constants() {
    if (is_float_) {
      const auto weights = op_.constant(1)->to_vector<float>();
      const int64_t tiles = op_.result().elements() / conv_.out_channels / block_pixels_;
      if (const auto found = stored_as_integers(op_, weights, conv_.out_channels, tiles, target_)) {
        nibbles_ = found->nibbles && target_.level != Level::kSpeed;
        pack(found->values);
        scales_ = f_.constant("scales", DType::kF32, found->scales);
      } else {
        pack(weights);
      }
      std::vector<float> bias;
      for (int64_t c = 0; c < conv_.out_channels; ++c) bias.push_back(float_bias_at(op_, c));
      bias_ = f_.constant("bias", DType::kF32, bias);
      return;
    }
    StoredWeights stored(op_);
    correction_ = stored.correction;
    pack(stored.values);
    if (is_int16_) {
      WideScaling scaling = conv_wide_scaling(op_, conv_);
      bias_ = wide_bias(f_, scaling);
      wide_.emplace(f_, scaling);
      return;
    }
    auto [folded, scaling] = ConvScaling(op_, conv_);
    bias_ = f_.constant("bias", DType::kI32, folded.bias);
    requantizer_.emplace(f_, scaling);
  }

  template <typename T>
  void pack(const std::vector<T>& w) {
    std::vector<T> packed;
    for (int64_t g = 0; g < groups_; ++g) {
      std::vector<T> group(w.begin() + g * group_out_ * conv_.k, w.begin() + (g + 1) * group_out_ * conv_.k);
      auto pack = pack_weights<T>;
      if constexpr (sizeof(T) == 1)
        if (nibbles_) pack = pack_nibbles;
      std::vector<T> part = pack(group, group_out_, conv_.k, block_channels_);
      packed.insert(packed.end(), part.begin(), part.end());
    }
    group_packed_ = static_cast<int64_t>(packed.size()) / groups_;
    weights_ = f_.constant("weights", sizeof(T) == sizeof(float) ? DType::kF32 : DType::kI8, packed);
  }

  // Where the result is larger than the input, from the last pixel to the first, so that it can be
  // written over the input from behind.
  void lower_pointwise(int64_t pixels) {
    const PixelBytes bytes{conv_.k * size_of(in_->dtype), conv_.out_channels * size_of(out_->dtype)};
    const bool backwards = bytes.out > bytes.in;
    if (auto order = pointwise_order(pixels, block_pixels_, bytes, backwards, true)) f_.publish(std::move(*order));
    f_.loop(
        "p", 0, pixels,
        [&](Ex p) {
          Ex start = backwards ? Ex(pixels - block_pixels_) - p : p;
          if (pixels % block_pixels_ != 0) start = backwards ? max(start, 0) : min(start, Ex(pixels - block_pixels_));
          Ex first = f_.let("pixel", start);
          // One base and constant offsets: compilers then need one pointer for all pixels.
          Ex base = f_.let("xi", first * conv_.k);
          auto x_base = [&](int64_t i) { return base + i * conv_.k; };
          emit_corrections(x_base);
          channel_tiles(0, first, x_base);
        },
        block_pixels_);
  }

  // A block's windows are all read into the panel before the first of its results is written.
  void publish_gathered() {
    if (groups_ > 1 || op_.result().elements() / conv_.out_channels > WriteOrder::kMostSteps) return;
    const WindowAxis& y = conv_.window.y;
    const WindowAxis& x = conv_.window.x;
    WriteOrder order;
    const int64_t size = size_of(in_->dtype), out_size = size_of(out_->dtype);
    for (int64_t n = 0; n < conv_.window.batch; ++n)
      for (int64_t oy = 0; oy < y.out; ++oy)
        for (int64_t ox : tile_starts(x.out, block_pixels_)) {
          int64_t top = std::max<int64_t>(y.start(oy), 0);
          int64_t bottom = std::min(y.start(oy) + y.effective_kernel(), y.in);
          int64_t left = std::max<int64_t>(x.start(ox), 0);
          int64_t right = std::min(x.start(ox + block_pixels_ - 1) + x.effective_kernel(), x.in);
          if (top < bottom && left < right)
            order.steps.push_back({((n * y.in + top) * x.in + left) * conv_.in_channels * size,
                                   ((n * y.in + bottom - 1) * x.in + right) * conv_.in_channels * size, 0, 0});
          int64_t pixel = (n * y.out + oy) * x.out + ox;
          order.steps.push_back(
              {0, 0, pixel * conv_.out_channels * out_size, (pixel + block_pixels_) * conv_.out_channels * out_size});
        }
    f_.publish(std::move(order));
  }

  void lower_gathered() {
    publish_gathered();
    const WindowAxis& y = conv_.window.y;
    const WindowAxis& x = conv_.window.x;
    Windows windows{conv_, in_, panel_, [this](const Ex& to, int64_t elements) { blank(to, elements); }};
    f_.loop("n", 0, conv_.window.batch, [&](Ex n) {
      f_.loop("oy", 0, y.out, [&](Ex oy) {
        f_.loop(
            "ox", 0, x.out,
            [&](Ex ox) {
              Ex first = f_.let("column", clamp_start(ox, x.out, block_pixels_));
              f_.loop("g", 0, groups_, [&](Ex g) {
                f_.loop("i", 0, block_pixels_,
                        [&](Ex i) { gather_window(f_, windows, {n, oy, first + i, g}, i * conv_.k); });
                Ex pixel = f_.let("pixel", (n * y.out + oy) * x.out + first);
                auto x_base = [&](int64_t i) { return Ex(i * conv_.k); };
                emit_corrections(x_base);
                channel_tiles(g, pixel, x_base);
              });
            },
            block_pixels_);
      });
    });
  }

  // The first index of the tile that starts at `at`, moved back at the end so that it fits.
  static Ex clamp_start(const Ex& at, int64_t total, int64_t block) {
    return total % block == 0 ? at : min(at, Ex(total - block));
  }

  void blank(const Ex& to, int64_t elements) {
    const int32_t zero = is_float_ ? 0 : op_.operand(0).zero_point();
    fill_elements(f_, panel_, to, zero, elements);
  }

  // What the weights' zero point adds to all sums of a pixel.
  template <typename XBase>
  void emit_corrections(XBase x_base) {
    corrections_.clear();
    if (correction_ == 0) return;
    const BufferPtr& from = conv_.pointwise ? in_ : panel_;
    int64_t unroll = unroll_for(conv_.k, 8);
    for (int64_t p = 0; p < block_pixels_; ++p) {
      Ex sum = f_.var("sum", 0);
      f_.loop(
          "k", 0, conv_.k,
          [&](Ex k) {
            Ex total = load(from, x_base(p) + k);
            for (int64_t u = 1; u < unroll; ++u) total = total + load(from, x_base(p) + k + u);
            f_.assign(sum, sum + total);
          },
          unroll);
      corrections_.push_back(f_.let("rest", sum * correction_));
    }
  }

  // All output channels of group g for the block of pixels that starts at `pixel`.
  template <typename XBase>
  void channel_tiles(const Ex& g, const Ex& pixel, XBase x_base) {
    f_.loop(
        "c", 0, group_out_,
        [&](Ex c) {
          Ex first = f_.let("channel", clamp_start(c, group_out_, block_channels_) + g * group_out_);
          GemmTile tile;
          tile.k = conv_.k;
          tile.pixels = block_pixels_;
          tile.channels = block_channels_;
          tile.unroll = unroll_;
          tile.x = conv_.pointwise ? in_ : panel_;
          for (int64_t i = 0; i < block_pixels_; ++i) tile.x_base.push_back(x_base(i));
          tile.weights = weights_;
          tile.nibbles = nibbles_;
          for (int64_t i = 0; scales_ && i < block_channels_; ++i)
            tile.scales.push_back(f_.let("scale", load(scales_, first + i)));
          // c is a multiple of the block, so tile number * (k * C) is c * k.
          tile.weights_base = f_.let("wi", g * group_packed_ + c * (nibbles_ ? nibble_bytes(conv_.k) : conv_.k));
          emit_tile(tile, pixel, first);
        },
        block_channels_);
  }

  void emit_tile(const GemmTile& tile, const Ex& pixel, const Ex& channel) {
    auto init = [&](int64_t p, int64_t c) {
      if (is_float_) return tir::f32(0.0f);
      Ex bias = load(bias_, channel + c);
      return corrections_.empty() ? bias : bias + corrections_[static_cast<size_t>(p)];
    };
    std::vector<Ex> acc = emit_gemm_tile(f_, tile, init);
    Ex base = f_.let("to", pixel * conv_.out_channels + channel);
    for (int64_t c = 0; c < tile.channels; ++c) {
      Ex bias;
      Requantizer::Channel scale;
      WideRequantizer::Channel wide;
      if (is_float_) bias = f_.let("bias", load(bias_, channel + c));
      if (requantizer_) scale = requantizer_->prepare(f_, channel + c);
      if (wide_) wide = wide_->prepare(f_, channel + c);
      for (int64_t p = 0; p < tile.pixels; ++p) {
        const Ex& a = acc[static_cast<size_t>(p * tile.channels + c)];
        Ex v = is_float_ ? emit_clamp(a + bias, float_clamp(op_.attrs<Conv2DAttrs>().activation))
               : wide_   ? wide_->emit(f_, a, wide)
                         : requantizer_->emit(f_, a, scale);
        f_.store(out_, base + (p * conv_.out_channels + c), v);
      }
    }
  }

  const OpView& op_;
  const ConvShape conv_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  int64_t groups_, group_out_;
  // Larger blocks would not fit any CPU's registers, longer bodies no cache.
  static constexpr int64_t kMostBlock = 8, kMostUnroll = 64;
  int64_t block_pixels_ = 1, block_channels_ = 1, unroll_ = 1, group_packed_ = 0;
  bool is_float_ = false, is_int16_ = false, nibbles_ = false;
  int32_t correction_ = 0;  // times the sum of a pixel's inputs
  std::vector<Ex> corrections_;
  BufferPtr in_, out_, panel_, weights_, bias_;
  BufferPtr scales_;  // of float weights that are stored as integers
  std::optional<Requantizer> requantizer_;
  std::optional<WideRequantizer> wide_;  // int16
};

}  // namespace

Lowered lower_conv_2d(const OpView& op, const TargetInfo& target) {
  if (is_hybrid(op)) return lower_conv_2d_hybrid(op, target);
  ConvShape conv(op);
  if (needs_taps(op, conv.window))
    return lower_conv_taps(op, {"conv_2d", conv.window, conv.in_channels, conv.out_channels, conv.group_in, false,
                                op.attrs<Conv2DAttrs>().activation});
  if (op.operand(0).dtype == DType::kI8 && (target.allows("triples") || target.allows("packed")) &&
      !packs_nibbles(op, target) && !has_uint8_weights(op))
    if (auto lowered = lower_conv_2d_triple(op, target)) return std::move(*lowered);
  return ConvLowering(op, target).run();
}

}  // namespace aotc::ops
