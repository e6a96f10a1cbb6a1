// SPDX-License-Identifier: Apache-2.0
// Lowering of softmax. int8 uses the compiler's table of exponentials and no floating point.
#include <limits>

#include <fmt/format.h>

#include "ops/common/fixed_functions.h"
#include "ops/common/requantize.h"
#include "ops/softmax/softmax.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class SoftmaxLowering {
 public:
  explicit SoftmaxLowering(const OpView& op)
      : op_(op), f_(op, "softmax"), depth_(op.operand(0).shape.back()), rows_(op.operand(0).elements() / depth_) {}

  Lowered run() {
    bool is_float = op_.operand(0).dtype == DType::kF32;
    const bool even = op_.attrs<SoftmaxAttrs>().rounding == RoundingRule::kOnnxruntime;
    in_ = f_.operand(0);
    if (even) {
      table_ = f_.constant("exponentials", DType::kF32, even_exponentials(op_));
    } else if (!is_float) {
      std::vector<int32_t> table = softmax_exponentials(op_);
      last_ = static_cast<int64_t>(table.size()) - 1;
      largest_share_ = ((int64_t{table[0]} >> 11) + 1) >> 1;
      table_ = f_.constant("exponentials", DType::kI32, table);
    }
    out_ = f_.result(0);
    // An element is read for the last time just before its result is written.
    if (!wide_result(op_)) f_.publish_in_place(0);
    f_.loop("r", 0, rows_, [&](Ex r) {
      Ex row = f_.let("row", r * depth_);
      if (is_float) {
        emit_float_row(row);
      } else if (even) {
        emit_even_row(row);
      } else {
        emit_int8_row(row);
      }
    });
    return f_.finish(is_float ? "float"
                     : even   ? "table of 256 floats, ties to even"
                              : fmt::format("table of {}", last_ + 1));
  }

 private:
  Ex emit_largest(const Ex& row) {
    Ex largest = f_.var("largest", load(in_, row));
    f_.loop("i", 1, depth_, [&](Ex i) { f_.assign(largest, max(largest, load(in_, row + i))); });
    return largest;
  }

  void emit_float_row(const Ex& row) {
    Ex largest = emit_largest(row);
    Ex sum = f_.var("sum", tir::f32(0.0f));
    float beta = op_.attrs<SoftmaxAttrs>().beta;
    f_.loop("i", 0, depth_, [&](Ex i) {
      Ex x = load(in_, row + i) - largest;
      if (beta != 1.0f) x = x * tir::f32(beta);
      Ex e = f_.let("e", call(tir::Intrinsic::kExp, DType::kF32, {x}));
      f_.store(out_, row + i, e);
      f_.assign(sum, sum + e);
    });
    f_.loop("i", 0, depth_, [&](Ex i) { f_.store(out_, row + i, load(out_, row + i) / sum); });
  }

  void emit_even_row(const Ex& row) {
    const Ex first = f_.let("first", emit_largest(row) - 255);
    auto part = [&](const Ex& i) { return load(table_, load(in_, row + i) - first); };
    Ex sum = f_.var("sum", tir::f32(0.0f));
    f_.loop("i", 0, depth_, [&](Ex i) { f_.assign(sum, sum + part(i)); });
    const auto zero = static_cast<int32_t>(op_.result().zero_point());
    f_.loop("i", 0, depth_, [&](Ex i) {
      Ex real = f_.let("real", part(i) / sum * tir::f32(even_units(op_)));
      real = clamp(real, tir::f32(static_cast<float>(-128 - zero)), tir::f32(static_cast<float>(127 - zero)));
      f_.store(out_, row + i, cast(DType::kI32, f_.let("q", emit_nearest_even(real))) + zero);
    });
  }

  // exp of the element's distance to the largest.
  Ex exponential(const Ex& largest, const Ex& at) {
    Ex distance = largest - load(in_, at);
    if (last_ < 255) distance = min(distance, Ex(last_));
    return load(table_, distance);
  }

  void emit_int8_row(const Ex& row) {
    Ex largest = emit_largest(row);
    Ex sum = f_.var("sum", Ex(0));  // Q12
    f_.loop("i", 0, depth_, [&](Ex i) { f_.assign(sum, sum + (((exponential(largest, row + i) >> 11) + 1) >> 1)); });
    // Shift the sum to [2^30, 2^31): first by what every sum needs, then by what is left. It is the largest element's
    // share at least, and that of all elements at most.
    const int64_t most = depth_ * largest_share_;
    int always = 0, rest = 0;
    while (most << (always + 1) < int64_t{1} << 31) ++always;
    while (largest_share_ << (always + rest) < int64_t{1} << 30) ++rest;
    if (always > 0) f_.assign(sum, sum * (int64_t{1} << always));
    Ex shift = f_.var("shift", Ex((wide_result(op_) ? 25 : 33) - always));  // of the final division, less one
    for (int step : {8, 4, 2, 1}) {
      if (step > rest) continue;
      f_.if_(sum < (int64_t{1} << (31 - step)), [&] {
        f_.assign(sum, sum * (int64_t{1} << step));
        f_.assign(shift, shift - step);
      });
    }
    Ex inverse = f_.let("inverse", emit_reciprocal(f_, sum));
    Ex right = shift;
    // Shifts past 31 happen in long rows only; their quotients round to 0 as with 31.
    if (!wide_result(op_) && 33 - always > 31) right = f_.let("right", min(shift, 31));
    f_.loop("i", 0, depth_, [&](Ex i) {
      Ex product = emit_high_mul(inverse, exponential(largest, row + i));
      IntRange range = int_range(op_.result().dtype);
      f_.store(out_, row + i, min((((product >> right) + 1) >> 1) + range.min, range.max));
    });
  }

  const OpView& op_;
  LoweringBuilder f_;
  int64_t depth_, rows_;
  int64_t last_ = 0;           // index of the table of exponentials
  int64_t largest_share_ = 0;  // of the sum: the largest element's
  BufferPtr in_, out_, table_;
};

}  // namespace

Lowered lower_softmax(const OpView& op) { return SoftmaxLowering(op).run(); }

}  // namespace aotc::ops
