// Lowering of depthwise_conv_2d, one channel at a time: the channel's pixels are copied from NHWC
// into a compact plane whose padding is the input's zero point, so every output is an interior one
// at small fixed offsets and needs no test. Planes that would be large are made in bands of output
// rows. Weights and scaling of the channel are loaded once per band, before its pixels.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/conv.h"
#include "ops/depthwise_conv_2d/depthwise_conv_2d.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kPlaneBytes = 2560;
// Windows up to this many taps are unrolled whole, their weights in variables.
constexpr int64_t kUnrolledTaps = 25;
constexpr int64_t kUnrolledColumns = 16;

class DepthwiseLowering {
 public:
  DepthwiseLowering(const OpView& op, const TargetInfo& target)
      : op_(op),
        f_(op, "depthwise_conv_2d"),
        channels_(op.operand(1).shape[3]),
        in_channels_(op.operand(0).shape[3]),
        is_float_(op.operand(0).dtype == DType::kF32) {
    const graph::Shape& w = op.operand(1).shape;
    window_ = window_of(op, op.attrs<DepthwiseConv2DAttrs>(), w[1], w[2]);
    taps_ = w[1] * w[2];
    const WindowAxis& x = window_.x;
    plane_width_ = (x.out - 1) * x.stride + x.effective_kernel();
    // Input columns that outputs look at; those beyond exist with strides only.
    first_column_ = x.pad_before;
    columns_ = std::min(x.in, plane_width_ - first_column_);
    choose_band();
    choose_block(target);
  }

  Lowered run() {
    in_ = f_.operand(0);
    make_constants();
    plane_ = f_.scratch("plane", in_->dtype, plane_rows_ * plane_width_, 4);
    out_ = f_.result(0);
    if (requantizer_) requantizer_->begin(f_);
    f_.loop("n", 0, window_.batch, [&](Ex n) {
      f_.loop(
          "b", 0, window_.y.out,
          [&](Ex b) {
            bool whole = window_.y.out % band_ == 0;
            Ex first = f_.let("first", whole ? b : min(b, Ex(window_.y.out - band_)));
            emit_band(n, first);
          },
          band_);
    });
    bool one = band_ == window_.y.out;
    // A channel's plane is copied whole before its results are written.
    if (one && op_.operand(0).shape == op_.result().shape) f_.publish_in_place(0);
    return f_.finish(fmt::format("plane of {}x{}, {} pixels at a time{}{}{}", plane_rows_,
                                 plane_width_, block_,
                                 one ? "" : fmt::format(", bands of {} rows", band_),
                                 is_float_ ? "" : ", ", is_float_ ? "" : requantizer_->form()));
  }

 private:
  // Output rows per plane: all, or as many as fit, in bands of nearly equal height.
  void choose_band() {
    const WindowAxis& y = window_.y;
    int64_t row_bytes = plane_width_ * size_of(op_.operand(0).dtype);
    auto rows_of = [&](int64_t band) { return (band - 1) * y.stride + y.effective_kernel(); };
    band_ = y.out;
    while (band_ > 1 && rows_of(band_) * row_bytes > kPlaneBytes) --band_;
    int64_t bands = (y.out + band_ - 1) / band_;
    band_ = (y.out + bands - 1) / bands;
    plane_rows_ = rows_of(band_);
  }

  // Neighbouring outputs computed together: they share weights and most input elements, but each
  // needs an accumulator beside a row of weights. Blocks at a row's end overlap, which is paid too.
  void choose_block(const TargetInfo& target) {
    constexpr int64_t kFinish = 9, kLoop = 6;  // instructions per output and per block
    const WindowAxis& x = window_.x;
    int64_t most = unrolled() ? std::clamp<int64_t>(target.registers - 3 - x.kernel, 2, 5) : 2;
    double least = 0;
    for (int64_t b = 1; b <= std::min(most, x.out); ++b) {
      int64_t columns = std::min((b - 1) * x.stride + x.effective_kernel(), b * x.kernel);
      int64_t block = window_.y.kernel * columns + taps_ * (b + 1) + kFinish * b + kLoop;
      double cost = static_cast<double>(block * ((x.out + b - 1) / b));
      if (b > 1 && cost >= least) continue;
      least = cost;
      block_ = b;
    }
  }

  void make_constants() {
    if (is_float_) {
      weights_ =
          f_.constant("weights", DType::kF32, by_channel(op_.constant(1)->to_vector<float>()));
      std::vector<float> bias;
      for (int64_t c = 0; c < channels_; ++c) bias.push_back(float_bias_at(op_, c));
      bias_ = f_.constant("bias", DType::kF32, bias);
      return;
    }
    std::vector<int8_t> w = by_channel(op_.constant(1)->to_vector<int8_t>());
    weights_ = f_.constant("weights", DType::kI8, w);
    FoldedBias folded = fold_bias(op_, channels_, [&](int64_t c) {
      return std::vector<int32_t>(w.begin() + c * taps_, w.begin() + (c + 1) * taps_);
    });
    Requantization scaling = depthwise_scaling(op_, folded.ranges);
    scaling.tame_constant_channels(folded.bias);
    bias_ = f_.constant("bias", DType::kI32, folded.bias);
    requantizer_.emplace(f_, scaling);
  }

  // [tap][channel] as [channel][tap].
  template <typename T>
  std::vector<T> by_channel(const std::vector<T>& w) const {
    std::vector<T> out;
    out.reserve(w.size());
    for (int64_t c = 0; c < channels_; ++c)
      for (int64_t t = 0; t < taps_; ++t) out.push_back(w[static_cast<size_t>(t * channels_ + c)]);
    return out;
  }

  bool padded() const {
    const WindowAxis& y = window_.y;
    return columns_ < plane_width_ || y.pad_before > 0 ||
           y.start(y.out - 1) + y.effective_kernel() > y.in;
  }

  void emit_band(const Ex& n, const Ex& first) {
    if (padded()) {
      int byte = is_float_ ? 0 : op_.operand(0).zero_point() & 0xFF;
      f_.fill_bytes(plane_, 0, byte, plane_rows_ * plane_width_);
    }
    Ex top = f_.let("top", first * window_.y.stride - window_.y.pad_before);
    int64_t multiplier = channels_ / in_channels_;
    f_.loop("c", 0, in_channels_, [&](Ex c) {
      copy_plane(n, top, c);
      f_.loop("m", 0, multiplier,
              [&](Ex m) { emit_channel(n, first, f_.let("channel", c * multiplier + m)); });
    });
  }

  // The input rows of the band that exist, channel c of them, into the plane.
  void copy_plane(const Ex& n, const Ex& top, const Ex& c) {
    const WindowAxis& y = window_.y;
    if (columns_ <= 0) return;
    Ex begin = f_.let("begin", max(-top, 0));
    Ex end = f_.let("end", min(Ex(plane_rows_), Ex(y.in) - top));
    f_.loop("r", begin, end, [&](Ex r) {
      Ex from = f_.let("from", ((n * y.in + top + r) * window_.x.in) * in_channels_ + c);
      Ex to = f_.let("to", r * plane_width_ + first_column_);
      if (in_channels_ == 1) {
        f_.copy(plane_, to, in_, from, columns_);
        return;
      }
      int64_t unroll = 1;
      for (int64_t u : {2, 3, 5, 4})
        if (columns_ % u == 0) unroll = u;
      f_.loop(
          "i", 0, columns_,
          [&](Ex i) {
            for (int64_t u = 0; u < unroll; ++u)
              f_.store(plane_, to + i + u, load(in_, from + i * in_channels_ + u * in_channels_));
          },
          unroll);
    });
  }

  void emit_channel(const Ex& n, const Ex& first, const Ex& channel) {
    weight_values_.clear();
    if (unrolled())
      for (int64_t t = 0; t < taps_; ++t)
        weight_values_.push_back(
            f_.let(fmt::format("w{}", t), load(weights_, channel * taps_ + t)));
    bias_value_ = f_.let("bias", load(bias_, channel));
    if (requantizer_) scale_ = requantizer_->prepare(f_, channel);
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    f_.loop("oy", 0, band_, [&](Ex oy) {
      Ex row = f_.let("row", oy * (y.stride * plane_width_));
      Ex out_row = f_.let("to", (n * y.out + first + oy) * x.out * channels_ + channel);
      f_.loop(
          "ox", 0, x.out,
          [&](Ex ox) {
            Ex column = x.out % block_ == 0 ? ox : f_.let("column", min(ox, Ex(x.out - block_)));
            emit_pixels(channel, row + column * x.stride, out_row + column * channels_);
          },
          block_);
    });
  }

  bool unrolled() const { return taps_ <= kUnrolledTaps; }

  // `block_` neighbouring outputs of one row; `at` is the plane index of the first one's window.
  void emit_pixels(const Ex& channel, const Ex& at, const Ex& to) {
    const WindowAxis& y = window_.y;
    Ex from = f_.let("from", at);
    std::vector<Ex> acc;
    for (int64_t i = 0; i < block_; ++i)
      acc.push_back(f_.var(fmt::format("acc{}", i), is_float_ ? tir::f32(0.0f) : bias_value_));
    if (unrolled()) {
      for (int64_t ky = 0; ky < y.kernel; ++ky) {
        auto weight = [&](int64_t kx) {
          return weight_values_[static_cast<size_t>(ky * window_.x.kernel + kx)];
        };
        emit_row(acc, from + ky * y.dilation * plane_width_, weight);
      }
    } else {
      f_.loop("ky", 0, y.kernel, [&](Ex ky) { emit_looped_row(acc, channel, from, ky); });
    }
    for (int64_t i = 0; i < block_; ++i) {
      const Ex& a = acc[static_cast<size_t>(i)];
      Activation activation = op_.attrs<DepthwiseConv2DAttrs>().activation;
      Ex v = is_float_ ? emit_clamp(a + bias_value_, float_clamp(activation))
                       : requantizer_->emit(f_, a, scale_);
      f_.store(out_, to + i * channels_, v);
    }
  }

  // Row ky of the window, of too many taps to be unrolled whole.
  void emit_looped_row(const std::vector<Ex>& acc, const Ex& channel, const Ex& from,
                       const Ex& ky) {
    const WindowAxis& x = window_.x;
    Ex start = f_.let("start", from + ky * (window_.y.dilation * plane_width_));
    Ex w = f_.let("w", channel * taps_ + ky * x.kernel);
    if (x.kernel <= kUnrolledColumns) {
      std::vector<Ex> values;
      for (int64_t kx = 0; kx < x.kernel; ++kx) values.push_back(load(weights_, w + kx));
      emit_row(acc, start, [&](int64_t kx) { return values[static_cast<size_t>(kx)]; });
      return;
    }
    f_.loop("kx", 0, x.kernel, [&](Ex kx) {
      Ex weight = f_.let("weight", load(weights_, w + kx));
      for (int64_t i = 0; i < block_; ++i) {
        const Ex& a = acc[static_cast<size_t>(i)];
        f_.assign(a, a + load(plane_, start + kx * x.dilation + i * x.stride) * weight);
      }
    });
  }

  // One row of taps for all outputs of the block, each input element loaded once. Columns ascend,
  // so each sum adds its taps in order.
  template <typename Weight>
  void emit_row(const std::vector<Ex>& acc, const Ex& start, Weight weight) {
    const WindowAxis& x = window_.x;
    int64_t width = (block_ - 1) * x.stride + x.effective_kernel();
    for (int64_t column = 0; column < width; ++column) {
      Ex value;
      for (int64_t i = 0; i < block_; ++i) {
        int64_t offset = column - i * x.stride;
        if (offset < 0 || offset % x.dilation != 0 || offset / x.dilation >= x.kernel) continue;
        if (!value.ptr()) value = f_.let("x", load(plane_, start + column));
        const Ex& a = acc[static_cast<size_t>(i)];
        f_.assign(a, a + value * weight(offset / x.dilation));
      }
    }
  }

  const OpView& op_;
  LoweringBuilder f_;
  Window window_;
  int64_t channels_, in_channels_, taps_ = 1;
  bool is_float_;
  int64_t plane_width_ = 0, plane_rows_ = 0, first_column_ = 0, columns_ = 0;
  int64_t band_ = 1, block_ = 1;
  BufferPtr in_, out_, plane_, weights_, bias_;
  std::optional<Requantizer> requantizer_;
  std::vector<Ex> weight_values_;
  Ex bias_value_;
  Requantizer::Channel scale_;
};

}  // namespace

Lowered lower_depthwise_conv_2d(const OpView& op, const TargetInfo& target) {
  if (target.mve && op.operand(0).dtype == DType::kI8)
    if (auto lowered = lower_depthwise_conv_2d_mve(op)) return std::move(*lowered);
  return DepthwiseLowering(op, target).run();
}

}  // namespace aotc::ops
