// SPDX-License-Identifier: Apache-2.0
// relu, relu6 and relu_n1_to_1 as operators of their own; most models fuse them into producers.
#include <algorithm>
#include <limits>

#include "ops/common/activation_checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/lut.h"
#include "ops/common/scaler.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

class Relu final : public SpecifiedOperator, public Fusable {
 public:
  Relu(std::string_view name, std::string_view summary, std::vector<TypeEntry> types, Activation activation)
      : SpecifiedOperator({.name = name,
                           .summary = summary,
                           .operands = {{.name = "x", .types = std::move(types)}},
                           .results = {{.name = "y"}},
                           .quantized = Quantized::kSymmetric,
                           .uint8 = Uint8::kShifted,
                           .traits = {.elementwise = true}}),
        activation_(activation) {}

  std::optional<Activation> as_activation(const OpView&) const override { return activation_; }

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (op.operand(0).dtype == DType::kF32) {
      evaluate_unary_float(data, [range = range()](float x) { return bound(x, range); });
    } else {
      evaluate_unary_int(op, data, quantized(op));
    }
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    if (op.operand(0).dtype == DType::kI8) return lower_byte_function(op, std::string(name()), quantized(op));
    if (op.operand(0).dtype == DType::kI16) return lower_int16(op);
    return lower_unary(op, std::string(name()),
                       [&](tir::FunctionBuilder&, const tir::Ex& x) { return emit_clamp(x, range()); });
  }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    DType type = op.operand(0).dtype;
    return type == DType::kF32 || (check_multiplier(op, real(op), type == DType::kI8 ? 255 : 32768, diags) &&
                                   check_activation_bounds(op, activation_, diags));
  }

 private:
  Lowered lower_int16(const OpView& op) const {
    ClampI32 clamp = quantized_clamp(activation_, op.result());
    if (op.operand(0).scale() == op.result().scale())
      return lower_unary(op, std::string(name()),
                         [&](tir::FunctionBuilder&, const tir::Ex& x) { return emit_bound(x, clamp, -32768, 32767); });
    return lower_scaled(op, std::string(name()), {real(op), real(op)}, clamp);
  }

  // Unlike where it is fused, an activation without an upper bound lets infinity pass.
  ClampF32 range() const {
    ClampF32 range = float_clamp(activation_);
    if (range.max == std::numeric_limits<float>::max()) range.max = std::numeric_limits<float>::infinity();
    return range;
  }

  // A quotient in float32, as the reference has it.
  static double real(const OpView& op) {
    float quotient = op.operand(0).scale() / op.result().scale();
    return static_cast<double>(quotient);
  }

  ByteFunction quantized(const OpView& op) const {
    QuantizedMultiplier m = quantize_multiplier(real(op));
    ClampI32 clamp = quantized_clamp(activation_, op.result());
    int32_t zero_in = op.operand(0).zero_point(), zero_out = op.result().zero_point();
    return [=](int64_t x) -> int64_t {
      int64_t y = multiply_by_quantized_multiplier(static_cast<int32_t>(x - zero_in), m);
      return std::min<int64_t>(std::max<int64_t>(y + zero_out, clamp.min), clamp.max);
    };
  }

  Activation activation_;
};

}  // namespace

void add_operators_relu(OperatorSet& set) {
  const std::vector<TypeEntry> all = {DType::kI8, DType::kU8, {DType::kI16, "zero points 0"}, DType::kF32};
  // LiteRT has no int16 kernel of relu_n1_to_1.
  const std::vector<TypeEntry> no_int16 = {DType::kI8, DType::kU8, DType::kF32};
  set.add(std::make_unique<Relu>("relu", "max(x, 0)", all, Activation::kRelu));
  set.add(std::make_unique<Relu>("relu6", "x clamped to 0 .. 6", all, Activation::kRelu6));
  set.add(std::make_unique<Relu>("relu_n1_to_1", "x clamped to -1 .. 1", no_int16, Activation::kReluN1To1));
}

}  // namespace aotc::ops
