// SPDX-License-Identifier: Apache-2.0
// Lowering of the pools. Windows that lie inside the input are the fast path: small ones unrolled,
// windows as wide as the input summed as one run of pixels. Where padding exists, clipped windows
// take loops with their own bounds. Averages divide by a multiplication that is proven exact.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "ops/common/conv_order.h"
#include "ops/common/elementwise.h"
#include "ops/pool_2d/pool_2d.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kUnrolledTaps = 16;

class PoolLowering {
 public:
  PoolLowering(const OpView& op, PoolKind kind)
      : op_(op),
        f_(op, std::string(op.op.name())),
        kind_(kind),
        window_(pool_window(op)),
        channels_(op.operand(0).shape[3]),
        activation_(op.attrs<Pool2DAttrs>().activation),
        begin_(op.attrs<Pool2DAttrs>().begin),
        is_float_(op.operand(0).dtype == DType::kF32) {
    y_counts_ = counts_of(window_.y);
    x_counts_ = counts_of(window_.x);
  }

  Lowered run() {
    in_ = f_.operand(0);
    if (kind_ == PoolKind::kAverage) word_ = word_average(op_);
    if (kind_ == PoolKind::kAverage && !is_float_ && !word_)
      divider_.emplace(f_, average_scaling(op_, y_counts_, x_counts_));
    out_ = f_.result(0);
    publish_pixels();
    if (divider_) divider_->begin(f_);
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    f_.loop("n", 0, window_.batch, [&](Ex n) {
      f_.loop("oy", 0, y.out, [&](Ex oy) { f_.loop("ox", 0, x.out, [&](Ex ox) { emit_pixel(n, oy, ox); }); });
    });
    std::string how = any_whole() ? (clips() ? "whole and clipped windows" : "whole windows") : "clipped windows";
    if (word_) how += ", high word";
    return f_.finish(divider_ ? fmt::format("{}, {}", how, divider_->form()) : how);
  }

 private:
  static bool clips(const WindowAxis& a, const Counts& c) { return c.least < a.kernel; }
  bool clips() const { return clips(window_.y, y_counts_) || clips(window_.x, x_counts_); }
  bool any_whole() const { return y_counts_.most == window_.y.kernel && x_counts_.most == window_.x.kernel; }

  // Pixel by pixel; within one, channels are read and written in turn.
  void publish_pixels() {
    PixelBytes bytes{channels_ * size_of(in_->dtype), channels_ * size_of(out_->dtype)};
    auto order = window_order(window_, 1, bytes);
    if (!order) return;
    WriteOrder joined;
    for (const WriteOrder::Step& s : order->steps) {
      bool reads = s.write_begin == s.write_end;
      if (reads || joined.steps.empty() || joined.steps.back().write_end > 0) {
        joined.steps.push_back(s);
      } else {
        joined.steps.back().write_begin = s.write_begin;
        joined.steps.back().write_end = s.write_end;
      }
    }
    f_.publish(std::move(joined));
  }

  void emit_pixel(const Ex& n, const Ex& oy, const Ex& ox) {
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    Ex top = f_.let("top", oy * y.stride - y.pad_before);
    Ex left = f_.let("left", ox * x.stride - x.pad_before);
    Ex to = f_.let("to", ((n * y.out + oy) * x.out + ox) * channels_);
    auto whole = [&] { emit_whole(((n * y.in + top) * x.in + left) * channels_, to); };
    auto clipped = [&] { emit_clipped(n, top, left, to); };
    if (!clips()) return whole();
    if (!any_whole()) return clipped();
    Ex fits = Ex(1);
    if (clips(y, y_counts_)) fits = lies_inside(top, y.kernel, y.in);
    if (clips(x, x_counts_)) fits = fits && lies_inside(left, x.kernel, x.in);
    f_.if_(fits, whole, clipped);
  }

  // `count` elements are joined.
  Ex start_value(const Ex& count) const {
    if (divider_ && average_shift(op_) != 0) return count * average_shift(op_);
    if (kind_ == PoolKind::kMax)
      return is_float_ ? tir::f32(std::numeric_limits<float>::lowest()) : Ex(int_range(in_->dtype).min);
    return is_float_ ? tir::f32(0.0f) : Ex(0);
  }

  Ex join(const Ex& so_far, const Ex& element) const { return join_pooled(kind_, so_far, element); }

  void emit_whole(const Ex& first, const Ex& to) {
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    int64_t row = x.in * channels_;
    Ex from = f_.let("from", first);
    Requantizer::Channel scale;
    if (divider_) scale = divider_->prepare(f_, Ex(y_counts_.kinds() * x_counts_.kinds() - 1));
    f_.loop("c", 0, channels_, [&](Ex c) {
      Ex at = f_.let("at", from + c);
      const bool begins = begin_ != MaxBegin::kLeast;
      Ex acc =
          f_.var(kind_ == PoolKind::kMax ? "best" : "sum", begins ? load(in_, at) : start_value(y.kernel * x.kernel));
      if (y.kernel * x.kernel <= kUnrolledTaps) {
        for (int64_t ky = 0; ky < y.kernel; ++ky)
          for (int64_t kx = begins && ky == 0 ? 1 : 0; kx < x.kernel; ++kx)
            f_.assign(acc, join(acc, load(in_, at + (ky * row + kx * channels_))));
      } else if (x.kernel == x.in) {
        emit_pixels(acc, at, y.kernel * x.kernel);
      } else {
        f_.loop("ky", 0, y.kernel, [&](Ex ky) { emit_pixels(acc, at + ky * row, x.kernel); });
      }
      Ex count = tir::f32(static_cast<float>(y.kernel * x.kernel));
      f_.store(out_, to + c, finished(acc, count, scale));
    });
  }

  // `count` pixels of one channel, one behind the other in memory.
  void emit_pixels(const Ex& acc, const Ex& first, int64_t count) {
    int64_t unroll = 1;
    for (int64_t u : {2, 3, 5, 4})
      if (count % u == 0) unroll = u;
    Ex from = f_.let("from", first);
    f_.loop(
        "i", 0, count,
        [&](Ex i) {
          for (int64_t u = 0; u < unroll; ++u)
            f_.assign(acc, join(acc, load(in_, from + i * channels_ + u * channels_)));
        },
        unroll);
  }

  void emit_clipped(const Ex& n, const Ex& top, const Ex& left, const Ex& to) {
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    Ex y0 = f_.let("y0", max(top, 0)), y1 = f_.let("y1", min(top + y.kernel, Ex(y.in)));
    Ex x0 = f_.let("x0", max(left, 0)), x1 = f_.let("x1", min(left + x.kernel, Ex(x.in)));
    Requantizer::Channel scale;
    Ex count;
    if (divider_) {
      scale = divider_->prepare(
          f_, f_.let("kind", (y1 - y0 - y_counts_.least) * x_counts_.kinds() + (x1 - x0 - x_counts_.least)));
    } else if (kind_ != PoolKind::kMax && is_float_) {
      count = f_.let("count", cast(DType::kF32, (y1 - y0) * (x1 - x0)));
    }
    f_.loop("c", 0, channels_, [&](Ex c) {
      Ex acc = f_.var(kind_ == PoolKind::kMax ? "best" : "sum", start_value((y1 - y0) * (x1 - x0)));
      if (begin_ != MaxBegin::kLeast) {
        auto begin = [&] { f_.assign(acc, load(in_, ((n * y.in + y0) * x.in + x0) * channels_ + c)); };
        if (begin_ == MaxBegin::kFirst || !clips(x, x_counts_)) {
          begin();
        } else if (x_counts_.most == x.kernel) {
          f_.if_(x1 - x0 == x.kernel, begin);
        }
      }
      f_.loop("y", y0, y1, [&](Ex iy) {
        Ex row = f_.let("row", (n * y.in + iy) * (x.in * channels_) + c);
        f_.loop("x", x0, x1, [&](Ex ix) { f_.assign(acc, join(acc, load(in_, row + ix * channels_))); });
      });
      f_.store(out_, to + c, finished(acc, count, scale));
    });
  }

  Ex finished(const Ex& acc, const Ex& count, const Requantizer::Channel& scale) {
    if (divider_) return divider_->emit(f_, acc, scale);
    if (word_) {
      const ClampI32 range = quantized_clamp(activation_, op_.result());
      const Ex sum = cast(DType::kI64, acc) * tir::i64(word_->multiplier) + tir::i64(word_->start);
      return clamp(f_.let("q", cast(DType::kI32, sum >> tir::i64(word_->shift))), range.min, range.max);
    }
    if (is_float_) {
      Ex v = kind_ == PoolKind::kMax ? acc : acc / count;
      if (kind_ == PoolKind::kRoot) v = call(tir::Intrinsic::kSqrt, DType::kF32, {v});
      return emit_clamp(v, float_clamp(activation_));
    }
    ClampI32 range = quantized_clamp(activation_, op_.result());
    IntRange all = int_range(in_->dtype);
    return emit_bound(acc, range, all.min, all.max);
  }

  const OpView& op_;
  LoweringBuilder f_;
  PoolKind kind_;
  Window window_;
  int64_t channels_;
  Activation activation_;
  MaxBegin begin_;
  bool is_float_;
  Counts y_counts_{}, x_counts_{};
  BufferPtr in_, out_;
  std::optional<Requantizer> divider_;
  std::optional<WordAverage> word_;
};

}  // namespace

Ex join_pooled(PoolKind kind, const Ex& so_far, const Ex& element) {
  if (kind == PoolKind::kRoot) return so_far + element * element;
  return kind == PoolKind::kMax ? max(element, so_far) : so_far + element;
}

Lowered lower_pool_2d(const OpView& op, PoolKind kind) { return PoolLowering(op, kind).run(); }

}  // namespace aotc::ops
