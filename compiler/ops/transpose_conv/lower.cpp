// SPDX-License-Identifier: Apache-2.0
// Lowering of transpose_conv onto the GEMM tile: for every phase, the weights of its taps are a matrix
// of their own, and its results a convolution with stride 1 whose results lie `stride` pixels apart.
// Phases with as many taps share their code.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "ops/common/conv.h"
#include "ops/common/gemm.h"
#include "ops/common/hybrid.h"
#include "ops/common/wide_requantize.h"
#include "ops/transpose_conv/transpose_conv.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

std::vector<PhaseGroup> groups_of(const TransposeAxis& axis) {
  std::vector<PhaseGroup> out;
  for (int64_t phase = 0; phase < axis.stride; ++phase) {
    if (out.empty() || out.back().taps != axis.taps(phase)) out.push_back({phase, phase, axis.taps(phase)});
    ++out.back().end;
  }
  return out;
}

namespace {

class TransposeConvLowering {
 public:
  TransposeConvLowering(const OpView& op, const TargetInfo& target)
      : op_(op), s_(op), f_(op, "transpose_conv"), target_(target) {
    is_float_ = op.operand(0).dtype == DType::kF32;
    activation_ = op.attrs<TransposeConvAttrs>().activation;
    rows_ = groups_of(s_.y);
    columns_ = groups_of(s_.x);
    int64_t fewest = s_.x.out, most = 0;
    for (int64_t phase = 0; phase < s_.x.stride; ++phase) {
      if (s_.x.count(phase) > 0) fewest = std::min(fewest, s_.x.count(phase));
      most = std::max(most, s_.x.count(phase));
    }
    channels_ = target.wish("channels", std::min<int64_t>(target.gemm_channels, s_.out_channels), 1,
                            std::min<int64_t>(kMostBlock, s_.out_channels));
    pixels_ = target.wish("pixels", std::min(fewest, choose_pixels(most, target.gemm_pixels, channels_)), 1,
                          std::min<int64_t>(kMostBlock, fewest));
  }

  Lowered run() {
    in_ = f_.operand(0);
    pack();
    int64_t k = rows_[0].taps * columns_[0].taps * s_.in_channels;  // of the first phase, which has most
    if (!direct()) panel_ = f_.scratch("panel", in_->dtype, pixels_ * k, 4);
    out_ = f_.result();
    if (requantizer_) requantizer_->begin(f_);
    if (wide_) wide_->begin(f_);
    f_.loop("n", 0, s_.batch, [&](Ex n) { f_.loop("oy", 0, s_.y.out, [&](Ex oy) { row(n, oy); }); });
    f_.algorithm("phases");
    f_.choice("pixels", pixels_);
    f_.choice("channels", channels_);
    std::string how = is_float_ ? "" : fmt::format(", {}", wide_ ? wide_->form() : requantizer_->form());
    return f_.finish((direct() ? "in place" : "gathered panel") + how);
  }

 private:
  // One tap, always inside: pixels are read where they are.
  bool direct() const {
    if (rows_[0].taps * columns_[0].taps != 1) return false;
    for (int64_t p = 0; p < s_.y.stride; ++p)
      if (s_.y.taps(p) > 0 && !s_.y.inside(p)) return false;
    for (int64_t p = 0; p < s_.x.stride; ++p)
      if (s_.x.taps(p) > 0 && !s_.x.inside(p)) return false;
    return true;
  }

  // ---- constants

  template <typename T>
  void pack_weights_of(const std::vector<T>& w) {
    std::vector<T> packed;
    for_each_phase(s_, [&](int64_t py, int64_t px) {
      int64_t k = s_.y.taps(py) * s_.x.taps(px) * s_.in_channels;
      std::vector<T> part = pack_weights(phase_weights(s_, w, py, px), s_.out_channels, k, channels_);
      packed.insert(packed.end(), part.begin(), part.end());
    });
    if constexpr (sizeof(T) == 2) weights_ = weights_constant(f_, "weights", packed);
    else weights_ = f_.constant("weights", DType::kF32, packed);
  }

  void pack() {
    if (is_float_) {
      pack_weights_of(op_.constant(1)->to_vector<float>());
      std::vector<float> bias;
      for (int64_t c = 0; c < s_.out_channels; ++c) bias.push_back(float_bias_at(op_, c));
      if (op_.constant(2)) bias_ = f_.constant("bias", DType::kF32, bias);
      return;
    }
    std::vector<int16_t> w = centred_weights(op_);
    pack_weights_of(w);
    if (in_->dtype == DType::kI16) {
      WideScaling scaling = transpose_conv_wide_scaling(op_);
      bias_ = wide_bias(f_, scaling);
      wide_.emplace(f_, scaling);
      return;
    }
    // Every phase sums other weights, so the zero point adds something else to its bias.
    std::vector<int32_t> bias;
    std::vector<AccRange> ranges(static_cast<size_t>(s_.out_channels), {INT32_MAX, INT32_MIN});
    for_each_phase(s_, [&](int64_t py, int64_t px) {
      std::vector<int16_t> part = phase_weights(s_, w, py, px);
      auto k = static_cast<std::ptrdiff_t>(part.size()) / s_.out_channels;
      FoldedBias folded = fold_bias(op_, s_.out_channels, [&](int64_t c) {
        return std::vector<int32_t>(part.begin() + c * k, part.begin() + (c + 1) * k);
      });
      bias.insert(bias.end(), folded.bias.begin(), folded.bias.end());
      for (size_t c = 0; c < ranges.size(); ++c) {
        ranges[c].low = std::min(ranges[c].low, folded.ranges[c].low);
        ranges[c].high = std::max(ranges[c].high, folded.ranges[c].high);
      }
    });
    bias_ = f_.constant("bias", DType::kI32, bias);
    requantizer_.emplace(
        f_, Requantization{conv_scales(op_.operand(0), op_.operand(1), op_.result(), s_.out_channels), ranges,
                           Rounding::kDouble, op_.result().zero_point(), quantized_clamp(activation_, op_.result())});
  }

  // ---- loops

  void row(const Ex& n, const Ex& oy) {
    Ex q = f_.let("qy", (oy + s_.y.pad) / s_.y.stride);
    Ex phase = f_.let("py", (oy + s_.y.pad) % s_.y.stride);
    int64_t first_phase = 0;
    for (size_t g = 0; g < rows_.size(); ++g) {
      const PhaseGroup& group = rows_[g];
      auto body = [&] { row_of_group(n, oy, q, phase, group, first_phase); };
      if (rows_.size() == 1) {
        body();
      } else {
        f_.if_(g == 0 ? phase < group.end : phase >= group.begin, body);
      }
      first_phase += group.size() * s_.x.stride;
    }
  }

  // `first_phase`: how many phases stand before this group of rows.
  void row_of_group(const Ex& n, const Ex& oy, const Ex& q, const Ex& phase, const PhaseGroup& y, int64_t first_phase) {
    int64_t weights = 0, before = 0;
    for_each_phase(s_, [&](int64_t py, int64_t px) {
      if (before++ < first_phase) weights += packed_size(s_.y.taps(py) * s_.x.taps(px));
    });
    for (const PhaseGroup& x : columns_) {
      Ex number = f_.let("phase", (phase - y.begin) * x.size() + first_phase);
      int64_t size = packed_size(y.taps * x.taps);
      auto table = [&](const char* name, auto get) {
        std::vector<int32_t> values;
        for (int64_t px = x.begin; px < x.end; ++px) values.push_back(static_cast<int32_t>(get(px)));
        return values.size() > 1 ? f_.constant(name, DType::kI32, values) : BufferPtr();
      };
      auto count = [&](int64_t px) { return s_.x.count(px); };
      auto first = [&](int64_t px) { return s_.x.first(px); };
      BufferPtr counts = table("counts", count), firsts = table("firsts", first);
      f_.loop("px", 0, x.size(), [&](Ex i) {
        auto column = [&](const BufferPtr& t, int64_t value) { return t ? load(t, i) : Ex(value); };
        Place place{n,
                    oy,
                    q,
                    f_.let("ox", column(firsts, first(x.begin))),
                    f_.let("count", column(counts, count(x.begin))),
                    f_.let("wi", (number + i - first_phase) * size + weights),
                    f_.let("bi", (number + i) * s_.out_channels),
                    y.taps,
                    x.taps};
        pixels(place);
      });
      first_phase += y.size() * x.size();
      weights += y.size() * x.size() * size;
    }
  }

  // What the pixels of one phase in one row have in common.
  struct Place {
    Ex n, oy, qy, first, count, weights, bias;
    int64_t taps_y, taps_x;
    int64_t taps() const { return taps_y * taps_x; }
  };

  // Elements that the packed weights of a phase take.
  int64_t packed_size(int64_t taps) const {
    auto tiles = static_cast<int64_t>(tile_starts(s_.out_channels, channels_).size());
    return tiles * channels_ * taps * s_.in_channels;
  }

  void pixels(const Place& p) {
    Ex qx = f_.let("qx", (p.first + s_.x.pad) / s_.x.stride);
    // A phase may have no pixel at all where the image is narrower than the stride.
    f_.loop(
        "block", 0, p.count,
        [&](Ex block) {
          Ex at = f_.let("column", min(block, p.count - pixels_));
          Ex pixel = f_.let("pixel", (p.n * s_.y.out + p.oy) * s_.x.out + p.first + at * s_.x.stride);
          if (p.taps() == 0) return tiles(p, pixel, {});
          std::vector<Ex> bases;
          int64_t k = p.taps() * s_.in_channels;
          if (direct()) {
            Ex base = f_.let("xi", ((p.n * s_.y.in + p.qy) * s_.x.in + qx + at) * s_.in_channels);
            for (int64_t i = 0; i < pixels_; ++i) bases.push_back(base + i * s_.in_channels);
          } else {
            f_.loop("i", 0, pixels_, [&](Ex i) { gather(p, qx + at + i, i * k); });
            for (int64_t i = 0; i < pixels_; ++i) bases.push_back(Ex(i * k));
          }
          tiles(p, pixel, bases);
        },
        pixels_);
  }

  // The inputs of the result at step `q` of its row, to the panel.
  void gather(const Place& p, const Ex& q, const Ex& to) {
    Ex left = f_.let("left", q - (p.taps_x - 1)), top = f_.let("top", p.qy - (p.taps_y - 1));
    int64_t row = p.taps_x * s_.in_channels;
    f_.loop("ty", 0, p.taps_y, [&](Ex ty) {
      Ex iy = f_.let("iy", top + ty), at = f_.let("to", to + ty * row);
      Ex from = f_.let("from", (p.n * s_.y.in + iy) * s_.x.in);
      f_.if_(
          iy >= 0 && iy < s_.y.in,
          [&] {
            f_.if_(
                lies_inside(left, p.taps_x, s_.x.in),
                [&] { f_.copy(panel_, at, in_, (from + left) * s_.in_channels, row); },
                [&] { gather_taps(p, left, from, at); });
          },
          [&] { blank(at, row); });
    });
  }

  void gather_taps(const Place& p, const Ex& left, const Ex& from, const Ex& to) {
    f_.loop("tx", 0, p.taps_x, [&](Ex tx) {
      Ex ix = f_.let("ix", left + tx);
      f_.if_(
          ix >= 0 && ix < s_.x.in,
          [&] { f_.copy(panel_, to + tx * s_.in_channels, in_, (from + ix) * s_.in_channels, s_.in_channels); },
          [&] { blank(to + tx * s_.in_channels, s_.in_channels); });
    });
  }

  void blank(const Ex& to, int64_t elements) {
    f_.fill_bytes(panel_, to, is_float_ ? 0 : op_.operand(0).zero_point() & 0xFF, elements);
  }

  // All output channels of a block of pixels; `bases` is where each reads its inputs.
  void tiles(const Place& p, const Ex& pixel, const std::vector<Ex>& bases) {
    int64_t k = p.taps() * s_.in_channels;
    f_.loop(
        "c", 0, s_.out_channels,
        [&](Ex c) {
          bool whole = s_.out_channels % channels_ == 0;
          Ex channel = f_.let("channel", whole ? c : min(c, Ex(s_.out_channels - channels_)));
          auto init = [&](int64_t, int64_t i) {
            if (is_float_) return tir::f32(0.0f);
            return load(bias_, wide_ ? channel + i : p.bias + channel + i);
          };
          std::vector<Ex> acc;
          if (k == 0) {
            for (int64_t i = 0; i < pixels_ * channels_; ++i) acc.push_back(init(0, i % channels_));
          } else {
            GemmTile tile{k,
                          pixels_,
                          channels_,
                          direct() ? in_ : panel_,
                          bases,
                          weights_,
                          f_.let("tile", p.weights + c * k),
                          unroll_for(k, target_.gemm_unroll)};
            acc = emit_gemm_tile(f_, tile, init);
          }
          store(acc, pixel, channel);
        },
        channels_);
  }

  void store(const std::vector<Ex>& acc, const Ex& pixel, const Ex& channel) {
    Ex base = f_.let("to", pixel * s_.out_channels + channel);
    for (int64_t c = 0; c < channels_; ++c) {
      Ex bias;
      Requantizer::Channel scale;
      WideRequantizer::Channel wide;
      if (wide_) wide = wide_->prepare(f_, channel + c);
      if (requantizer_) scale = requantizer_->prepare(f_, channel + c);
      if (is_float_ && bias_) bias = f_.let("bias", load(bias_, channel + c));
      for (int64_t p = 0; p < pixels_; ++p) {
        const Ex& a = acc[static_cast<size_t>(p * channels_ + c)];
        Ex v = is_float_ ? emit_clamp(bias_ ? a + bias : a, float_clamp(activation_))
               : wide_   ? wide_->emit(f_, a, wide)
                         : requantizer_->emit(f_, a, scale);
        f_.store(out_, base + (p * s_.x.stride * s_.out_channels + c), v);
      }
    }
  }

  const OpView& op_;
  const TransposeShape s_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  // Larger blocks would not fit any CPU's registers.
  static constexpr int64_t kMostBlock = 8;
  bool is_float_ = false;
  Activation activation_ = Activation::kNone;
  std::vector<PhaseGroup> rows_, columns_;
  int64_t channels_ = 1, pixels_ = 1;
  BufferPtr in_, out_, panel_, weights_, bias_;
  std::optional<Requantizer> requantizer_;
  std::optional<WideRequantizer> wide_;  // int16
};

// Float sums tap by tap, with a test for each that may lie outside: a weight that is not finite must not
// meet a padding of zeros. Of int8 weights as well: the reference scales every product before it is added.
class TapsLowering {
 public:
  explicit TapsLowering(const OpView& op)
      : op_(op), s_(op), f_(op, "transpose_conv"), batch_(s_.y.in * s_.x.in * s_.in_channels) {}

  Lowered run() {
    const bool hybrid = is_hybrid(op_);
    in_ = f_.operand(0);
    weights_ = f_.operand(1);
    if (op_.constant(2)) bias_ = f_.operand(2);
    if (hybrid) {
      std::vector<float> scales;
      for (int64_t c = 0; c < s_.out_channels; ++c) scales.push_back(weight_scale(op_, c));
      scales_ = f_.constant("scales", DType::kF32, scales);
      bytes_ = f_.scratch("quantised", DType::kI8, batch_, 4);
    }
    out_ = f_.result();
    f_.loop("n", 0, s_.batch, [&](Ex n) {
      if (hybrid) {
        Ex row = f_.let("row", n * batch_);
        row_ = emit_quantize_row(f_, {in_, row, batch_, true, false, nullptr}, bytes_, 0);
      }
      f_.loop("oy", 0, s_.y.out, [&](Ex oy) {
        f_.loop("ox", 0, s_.x.out,
                [&](Ex ox) { f_.loop("c", 0, s_.out_channels, [&](Ex c) { output(n, oy, ox, c); }); });
      });
    });
    f_.algorithm("taps");
    return f_.finish(hybrid ? "input quantised" : "padding skipped: weights are not finite");
  }

 private:
  void inputs(const TransposeAxis& axis, const Ex& o, const char* name, const std::function<void(Ex, Ex)>& body) {
    f_.loop(name, 0, axis.in, [&](Ex i) {
      Ex k = f_.let("tap", o + axis.pad - i * axis.stride);
      f_.if_(k >= 0 && k < axis.kernel, [&] { body(i, k); });
    });
  }

  Ex product(const Ex& from, const Ex& weight, const Ex& scale) const {
    if (!bytes_) return load(in_, from) * load(weights_, weight);
    return cast(DType::kF32, (load(bytes_, from) - row_.zero) * load(weights_, weight)) * scale * row_.scale;
  }

  void output(const Ex& n, const Ex& oy, const Ex& ox, const Ex& c) {
    Ex acc = f_.var("acc", tir::f32(0.0f));
    Ex scale = bytes_ ? f_.let("scale", load(scales_, c)) : Ex();
    Ex first = bytes_ ? Ex(0) : f_.let("first", n * batch_);
    inputs(s_.y, oy, "iy", [&](const Ex& iy, const Ex& ky) {
      inputs(s_.x, ox, "ix", [&](const Ex& ix, const Ex& kx) {
        Ex from = f_.let("from", first + (iy * s_.x.in + ix) * s_.in_channels);
        Ex weight = f_.let("weight", ((c * s_.y.kernel + ky) * s_.x.kernel + kx) * s_.in_channels);
        f_.loop("k", 0, s_.in_channels, [&](Ex k) { f_.assign(acc, acc + product(from + k, weight + k, scale)); });
      });
    });
    Ex v = bias_ ? acc + load(bias_, c) : acc;
    f_.store(out_, ((n * s_.y.out + oy) * s_.x.out + ox) * s_.out_channels + c,
             emit_clamp(v, float_clamp(op_.attrs<TransposeConvAttrs>().activation)));
  }

  const OpView& op_;
  const TransposeShape s_;
  LoweringBuilder f_;
  int64_t batch_;  // elements
  BufferPtr in_, weights_, bias_, out_, scales_, bytes_;
  RowQuantization row_;
};

}  // namespace

Lowered lower_transpose_conv(const OpView& op, const TargetInfo& target) {
  if (is_hybrid(op)) return TapsLowering(op).run();
  if (op.operand(0).dtype == DType::kF32) {
    std::vector<float> w = op.constant(1)->to_vector<float>();
    if (!std::all_of(w.begin(), w.end(), [](float v) { return std::isfinite(v); })) return TapsLowering(op).run();
  }
  return TransposeConvLowering(op, target).run();
}

}  // namespace aotc::ops
