// SPDX-License-Identifier: Apache-2.0
// log_softmax: the logarithm of softmax over the last axis. Bytes go through the exponentials of softmax
// and a logarithm in fixed point.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/fixed_functions.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/common/requantize.h"
#include "ops/rows/rows.h"
#include "ops/signature.h"
#include "support/numerics.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

// Longer rows could leave 32 bits in the sum.
constexpr int64_t kLongestSum = 4095;

class LogSoftmaxLowering {
 public:
  explicit LogSoftmaxLowering(const OpView& op) : op_(op), f_(op, "log_softmax"), depth_(op.operand(0).shape.back()) {}

  Lowered run() {
    bool is_float = op_.operand(0).dtype == DType::kF32;
    in_ = f_.operand(0);
    if (!is_float) make_tables();
    out_ = f_.result();
    f_.publish_in_place(0);
    f_.loop("r", 0, op_.operand(0).elements() / depth_, [&](Ex r) {
      Ex row = f_.let("row", r * depth_);
      Ex largest = f_.var("largest", is_float ? tir::f32(std::numeric_limits<float>::lowest())
                                              : Ex(int_range(op_.operand(0).dtype).min));
      f_.loop("i", 0, depth_, [&](Ex i) {
        Ex x = f_.let("x", load(in_, row + i));
        f_.assign(largest, select(largest < x, x, largest));
      });
      if (is_float) {
        float_row(row, largest);
      } else {
        byte_row(row, largest);
      }
    });
    return f_.finish(is_float ? "float" : "fixed point");
  }

 private:
  void float_row(const Ex& row, const Ex& largest) {
    Ex sum = f_.var("sum", tir::f32(0.0f));
    f_.loop("i", 0, depth_, [&](Ex i) {
      f_.assign(sum, sum + call(tir::Intrinsic::kExp, DType::kF32, {load(in_, row + i) - largest}));
    });
    Ex log_sum = f_.let("log_sum", call(tir::Intrinsic::kLog, DType::kF32, {sum}));
    f_.loop("i", 0, depth_, [&](Ex i) { f_.store(out_, row + i, load(in_, row + i) - largest - log_sum); });
  }

  void make_tables() {
    double scale = static_cast<double>(op_.operand(0).scale());
    std::vector<int32_t> shares = exponentials(scale);
    for (int32_t& v : shares) v = rounding_divide_by_pot(v, 12);
    distances_ = scaled_distances(scale);
    last_share_ = static_cast<int64_t>(shares.size()) - 1;
    shares_ = f_.constant("shares", DType::kI32, shares);
    scaled_ = f_.constant("scaled", DType::kI32, distances_);
    QuantizedMultiplier m = quantize_multiplier(std::min(scale * std::ldexp(1.0, 26), 2147483647.0));
    back_ = quantize_multiplier(static_cast<double>(int64_t{1} << (31 - m.shift)) / m.multiplier);
  }

  void byte_row(const Ex& row, const Ex& largest) {
    Ex sum = f_.var("sum", Ex(0));  // Q12
    f_.loop("i", 0, depth_, [&](Ex i) {
      Ex distance = largest - load(in_, row + i);
      if (last_share_ < 255) distance = min(distance, Ex(last_share_));
      f_.assign(sum, sum + load(shares_, distance));
    });
    Ex log_sum = f_.let("log_sum", logarithm(sum));  // Q5
    // Elements this far away are the least value.
    Ex end = f_.let("end", least_distance(log_sum));
    IntRange range = int_range(op_.operand(0).dtype);
    f_.loop("i", 0, depth_, [&](Ex i) {
      Ex distance = f_.let("distance", largest - load(in_, row + i));
      f_.if_(
          distance < end,
          [&] {
            Ex rounded = emit_rounding_shift(load(scaled_, distance) - log_sum, 22);
            f_.store(out_, row + i, clamp(rounded + range.max, range.min, range.max));
          },
          [&] { f_.store(out_, row + i, range.min); });
    });
  }

  // -max(diff_min - 1, back * (log_sum - 2^31)): distances below it count.
  Ex least_distance(const Ex& log_sum) {
    Ex room = log_sum + std::numeric_limits<int32_t>::min();
    Ex product = emit_high_mul(room, Ex(back_.multiplier));
    Ex scaled = back_.shift < 0 ? emit_rounding_shift(product, -back_.shift) : product;
    return min(Ex(static_cast<int64_t>(distances_.size())), -f_.let("scaled", scaled));
  }

  // ln(z) in Q5 of z >= 1 in Q12, from two approximations half a power of 2 apart.
  Ex logarithm(const Ex& z) {
    constexpr int32_t kLog2 = 1488522236, kRootOfHalf = 1518500250, kFourthRootOfHalf = 1805811301;
    constexpr int32_t kAlphaN = 117049297, kAlphaD = 127690142, kAlphaI = 1057819769, kAlphaF = 638450708;
    auto mul = [](const Ex& a, const Ex& b) { return emit_high_mul(a, b); };
    Ex zeros_a = f_.let("zeros", headroom(z));
    Ex a = f_.let("a", mul(z << zeros_a, Ex(kRootOfHalf)));
    Ex r_a = f_.let("ra", emit_saturating_shift(a, 1));
    Ex power_a = f_.let("pa", ((Ex(11) - zeros_a) << 25) + (1 << 23));
    Ex zeros_b = f_.let("zeros_b", headroom(f_.let("b", mul(z, Ex(kRootOfHalf)))));
    Ex r_b = f_.let("rb", emit_saturating_shift(z, zeros_b));
    Ex power_b = f_.let("pb", ((Ex(12) - zeros_b) << 25) - (1 << 23));
    Ex r = f_.let("rest", min(r_a, r_b)), power = f_.let("power", max(power_a, power_b));
    Ex p = f_.let("p", half_sum(r, Ex(kFourthRootOfHalf)));
    Ex q = f_.let("q", (r - kFourthRootOfHalf) * 2);
    Ex square = f_.let("square", mul(q, q));
    Ex numerator = f_.let("numerator", mul(q, r) + mul(mul(q, square), Ex(kAlphaN)));
    Ex denominator = f_.let("denominator", mul(p, Ex(kAlphaI) + q + mul(Ex(kAlphaD), square)) + mul(Ex(kAlphaF), q));
    Ex half = f_.let("half", half_sum(denominator, Ex(std::numeric_limits<int32_t>::max())));
    Ex inverse = f_.let("inverse", emit_reciprocal(f_, half));
    return emit_saturating_shift(mul(power, Ex(kLog2)) + mul(emit_rounding_shift(numerator, 6), inverse), 1);
  }

  // Leading zeros behind the sign.
  Ex headroom(const Ex& v) {
    Ex left = f_.var("rest", v), zeros = f_.var("room", Ex(0));
    for (int step : {16, 8, 4, 2, 1})
      f_.if_(left < (int64_t{1} << (31 - step)), [&] {
        f_.assign(left, left << step);
        f_.assign(zeros, zeros + step);
      });
    return zeros;
  }

  // (a + b) / 2, nearest, ties away from zero.
  static Ex half_sum(const Ex& a, const Ex& b) {
    Ex sum = cast(DType::kI64, a) + cast(DType::kI64, b);
    return cast(DType::kI32, (sum + select(sum < tir::i64(0), tir::i64(-1), tir::i64(1))) / tir::i64(2));
  }

  const OpView& op_;
  LoweringBuilder f_;
  int64_t depth_, last_share_ = 0;
  std::vector<int32_t> distances_;
  QuantizedMultiplier back_;
  BufferPtr in_, out_, shares_, scaled_;
};

class LogSoftmax final : public SpecifiedOperator, public Transposable {
 public:
  LogSoftmax()
      : SpecifiedOperator({.name = "log_softmax",
                           .summary = "logarithm of softmax over the last axis",
                           .operands = {{.name = "x",
                                         .types = {{DType::kI8, "result scale 1/16, zero point 127"},
                                                   DType::kF32,
                                                   {DType::kU8, "result scale 1/16, zero point 255"}},
                                         .ranks = {1}}},
                           .results = {{.name = "y"}},
                           .quantized = Quantized::kPerTensor,
                           .empty = false,
                           .traits = {.uses_libm = true}}) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }
  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    return same_axes(1, 1, op.result().shape.size());
  }
  // Rows stay rows.
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    return axes.back() == static_cast<int>(axes.size()) - 1 ? op.op.attributes : nullptr;
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override { return LogSoftmaxLowering(op).run(); }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    if (op.operand(0).dtype == DType::kF32) return true;
    if (op.operand(0).shape.back() > kLongestSum) {
      bad_shape(op, diags,
                fmt::format("rows of {} elements; the sum of more than {} can overflow", op.operand(0).shape.back(),
                            kLongestSum));
      return false;
    }
    int64_t zero = int_range(op.operand(0).dtype).max;
    bool scaled = op.result().scale() == 1.0f / 16 && op.result().zero_point() == zero;
    // Below, the reference's inverse of the scale is none.
    if (scaled && static_cast<double>(op.operand(0).scale()) * std::ldexp(1.0, 26) > 1.0) return true;
    diags.error(op.where(), "op-quantization",
                fmt::format("the operand has scale {}, the result scale {} and zero point {}; log_softmax "
                            "gives scale 1/16 and zero point {} of scales above 2^-26",
                            op.operand(0).scale(), op.result().scale(), op.result().zero_point(), zero));
    return false;
  }
};

}  // namespace

void add_log_softmax(OperatorSet& set) { set.add(std::make_unique<LogSoftmax>()); }

}  // namespace aotc::ops
