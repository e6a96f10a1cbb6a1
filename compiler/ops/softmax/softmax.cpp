// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax/softmax.h"
#include "ops/signature.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/fixed_functions.h"
#include "ops/softmax/int16.h"
#include "support/numerics.h"

namespace aotc::ops {

namespace {

int32_t high_mul(int32_t a, int32_t b) { return saturating_rounding_doubling_high_mul(a, b); }

}  // namespace

std::vector<int32_t> softmax_exponentials(const OpView& op) {
  return exponentials(static_cast<double>(op.attrs<SoftmaxAttrs>().beta) * static_cast<double>(op.operand(0).scale()));
}

std::vector<float> even_exponentials(const OpView& op) {
  const auto scale = static_cast<double>(op.operand(0).scale());
  const auto length = static_cast<float>(op.operand(0).shape.back());
  const float most = std::log(std::numeric_limits<float>::max() / length);
  const double up = std::max(0.0, static_cast<double>(most) - 5.0) / scale;
  std::vector<float> out;
  for (int i = 0; i < 256; ++i) out.push_back(static_cast<float>(std::exp((i - 255 + up) * scale)));
  return out;
}

float even_units(const OpView& op) { return std::floor(1.0f / op.result().scale()); }

namespace {

class Softmax final : public SpecifiedOperator, public Transposable {
 public:
  Softmax()
      : SpecifiedOperator({.name = "softmax",
                           .summary = "softmax over the last axis",
                           .operands = {{.name = "x",
                                         .types = {{DType::kI8,
                                                    "result int8 with scale 1/256 and zero point -128, or int16 with "
                                                    "scale 1/65536 and zero point -32768"},
                                                   {DType::kU8, "result uint8 with scale 1/256 and zero point 0"},
                                                   {DType::kI16, "result scale 1/32768, zero points 0"},
                                                   DType::kF32},
                                         .ranks = {1, 8}}},
                           .results = {{.name = "y", .type_of = ResultSpec::kOwn}},
                           .empty = false,
                           .uint8 = Uint8::kShifted,
                           .traits = {.uses_libm = true},
                           .attributes = make_attributes<SoftmaxAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    auto depth = static_cast<size_t>(op.operand(0).shape.back());
    bool is_float = op.operand(0).dtype == DType::kF32;
    if (op.operand(0).dtype == DType::kI16) return evaluate_int16(op, data);
    if (op.attrs<SoftmaxAttrs>().rounding == RoundingRule::kOnnxruntime) return evaluate_even(op, data);
    std::vector<int32_t> table;
    if (!is_float) table = softmax_exponentials(op);
    size_t rows = static_cast<size_t>(op.operand(0).elements()) / depth;
    for (size_t r = 0; r < rows; ++r) {
      if (is_float) {
        float_row(data.in<float>(0).subspan(r * depth, depth), data.out<float>().subspan(r * depth, depth),
                  op.attrs<SoftmaxAttrs>().beta);
      } else if (wide_result(op)) {
        int8_row(data.in<int8_t>(0).subspan(r * depth, depth), data.out<int16_t>().subspan(r * depth, depth), table);
      } else {
        int8_row(data.in<int8_t>(0).subspan(r * depth, depth), data.out<int8_t>().subspan(r * depth, depth), table);
      }
    }
  }

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    return same_axes(1, 1, op.result().shape.size());
  }
  // Rows stay rows.
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    return axes.back() == static_cast<int>(axes.size()) - 1 ? op.op.attributes : nullptr;
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    return op.operand(0).dtype == DType::kI16 ? lower_softmax_int16(op) : lower_softmax(op);
  }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    if (!check_result_type(op, 0, wide_result(op) ? DType::kI16 : op.operand(0).dtype, diags)) return false;
    float beta = op.attrs<SoftmaxAttrs>().beta;
    if (!(beta > 0) || !std::isfinite(beta)) {
      bad_attribute(op, diags, fmt::format("beta is {}; it must be a positive number", beta));
      return false;
    }
    if (op.operand(0).dtype == DType::kF32) return true;
    bool bytes = op.operand(0).dtype == DType::kI8;
    const RoundingRule rule = op.attrs<SoftmaxAttrs>().rounding;
    if (!check_rounding_rule(op, rule, diags, !bytes)) return false;
    if (rule == RoundingRule::kOnnxruntime) return check_even(op, diags);
    if (!check_quantized_io(op, diags) || !(bytes || check_symmetric_io(op, diags))) return false;
    const graph::TensorType& out = op.result();
    float units = wide_result(op) ? 65536.0f : bytes ? 256.0f : 32768.0f;
    int64_t zero_point = wide_result(op) ? -32768 : bytes ? -128 : 0;
    if (std::abs(out.scale() * units - 1.0f) > 0.001f || out.zero_point() != zero_point) {
      diags.error(op.where(), "op-quantization",
                  fmt::format("the result has scale {} and zero point {}; softmax of {} gives {} of "
                              "scale 1/{} and zero point {}",
                              out.scale(), out.zero_point(), bytes ? "int8" : "int16",
                              out.dtype == DType::kI8 ? "int8" : "int16", units, zero_point));
      return false;
    }
    int64_t longest = bytes ? kLongestSoftmaxRow : kLongestSoftmaxRow16;
    if (op.operand(0).shape.back() > longest) {
      bad_shape(op, diags,
                fmt::format("rows of {} elements; the sum of more than {} can overflow", op.operand(0).shape.back(),
                            longest));
      return false;
    }
    // The reference multiplies distances by this in a form that begins at 1, and stops below.
    const double real = static_cast<double>(beta) * static_cast<double>(op.operand(0).scale());
    if (bytes && !(real * (1 << 26) > 1)) {
      bad_attribute(op, diags, fmt::format("beta times the input's scale is {}; it must be more than 2^-26", real));
      return false;
    }
    bool good = bytes || check_multiplier(op, softmax_distance_scale(op), 65535, diags);
    return good;
  }

 private:
  static bool check_even(const OpView& op, Diagnostics& diags) {
    if (!check_quantized_io(op, diags) || !check_result_type(op, 0, op.operand(0).dtype, diags)) return false;
    const float scale = op.result().scale();
    if (op.operand(0).dtype == DType::kI16 && (scale < kLeastFineScale || scale > kMostFineScale))
      return bad_attribute(op, diags, fmt::format("the scale of an int16 result must be 2^-20 to 1, not {}", scale));
    return op.attrs<SoftmaxAttrs>().beta == 1.0f || bad_attribute(op, diags, "rounding = onnxruntime is for beta = 1");
  }

  static void evaluate_even(const OpView& op, const EvalData& data) {
    const std::vector<float> table = even_exponentials(op);
    const float units = even_units(op);
    const auto depth = static_cast<size_t>(op.operand(0).shape.back());
    const auto zero = static_cast<int>(op.result().zero_point());
    for (size_t at = 0; at < data.in<int8_t>(0).size(); at += depth) {
      const auto in = data.in<int8_t>(0).subspan(at, depth);
      const int largest = *std::max_element(in.begin(), in.end());
      float sum = 0;
      for (int8_t v : in) sum += table[static_cast<size_t>(v - largest + 255)];
      for (size_t i = 0; i < depth; ++i) {
        const float real = table[static_cast<size_t>(in[i] - largest + 255)] / sum * units;
        const float bounded = std::clamp(real, static_cast<float>(-128 - zero), static_cast<float>(127 - zero));
        data.out<int8_t>()[at + i] = static_cast<int8_t>(static_cast<int>(std::nearbyint(bounded)) + zero);
      }
    }
  }

  static void evaluate_int16(const OpView& op, const EvalData& data) {
    auto depth = static_cast<size_t>(op.operand(0).shape.back());
    if (op.attrs<SoftmaxAttrs>().rounding == RoundingRule::kOnnxruntime) {
      const FineSoftmax how(op);
      for (size_t at = 0; at < data.in<int16_t>(0).size(); at += depth)
        softmax_row(data.in<int16_t>(0).subspan(at, depth), data.out<int16_t>().subspan(at, depth), how,
                    static_cast<int32_t>(op.result().zero_point()));
      return;
    }
    QuantizedMultiplier distance = quantize_multiplier(softmax_distance_scale(op));
    for (size_t at = 0; at < data.in<int16_t>(0).size(); at += depth)
      softmax_row(data.in<int16_t>(0).subspan(at, depth), data.out<int16_t>().subspan(at, depth), distance);
  }

  static void float_row(std::span<const float> in, std::span<float> out, float beta) {
    float largest = in[0];
    for (float v : in) largest = std::max(largest, v);
    float sum = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      out[i] = std::exp((in[i] - largest) * beta);
      sum += out[i];
    }
    for (float& v : out) v /= sum;
  }

  // Q8 or Q16, from the least value of the type.
  template <typename Out>
  static void int8_row(std::span<const int8_t> in, std::span<Out> out, const std::vector<int32_t>& table) {
    int32_t largest = *std::max_element(in.begin(), in.end());
    auto exponential = [&](int8_t v) { return table[std::min(static_cast<size_t>(largest - v), table.size() - 1)]; };
    int64_t sum = 0;  // Q12
    for (int8_t v : in) sum += rounding_divide_by_pot(exponential(v), 12);
    int headroom = 1;
    for (; sum < int64_t{1} << 30; sum *= 2) ++headroom;
    int32_t inverse = fixed_reciprocal(static_cast<int32_t>(sum));
    for (size_t i = 0; i < in.size(); ++i) {
      int64_t product = high_mul(inverse, exponential(in[i]));
      int shift = 12 - headroom + 31 - 8 * static_cast<int>(sizeof(Out));
      int64_t q = ((product >> (shift - 1)) + 1) >> 1;
      using Limits = std::numeric_limits<Out>;
      out[i] = static_cast<Out>(std::min<int64_t>(q + Limits::min(), Limits::max()));
    }
  }
};

}  // namespace

void add_operators_softmax(OperatorSet& set) { set.add(std::make_unique<Softmax>()); }

}  // namespace aotc::ops
