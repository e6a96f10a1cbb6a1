// SPDX-License-Identifier: Apache-2.0
// relu, relu6 and relu_n1_to_1 as operators of their own; most models fuse them into producers.
#include <algorithm>
#include <limits>

#include "ops/common/activation_checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/lut.h"
#include "ops/common/scaler.h"

namespace aotc::ops {

namespace {

class Relu final : public UnaryElementwise, public Fusable {
 public:
  Relu(std::string_view name, std::string_view summary, Activation activation)
      : name_(name), summary_(summary), activation_(activation) {}

  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return summary_; }
  std::vector<TypeSupport> types() const override {
    if (!takes_int16()) return {{DType::kI8, ""}, {DType::kU8, ""}, {DType::kF32, ""}};
    return {{DType::kI8, ""}, {DType::kU8, ""}, {DType::kI16, "zero points 0"}, {DType::kF32, ""}};
  }
  Uint8 uint8_form(const OpView&) const override { return Uint8::kShifted; }
  std::optional<Activation> as_activation(const OpView&) const override { return activation_; }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!verify_unary_quantized(op, diags, takes_int16())) return kFailure;
    DType type = op.operand(0).dtype;
    if (type == DType::kF32) return success();
    bool good = check_multiplier(op, real(op), type == DType::kI8 ? 255 : 32768, diags) &&
                check_activation_bounds(op, activation_, diags);
    return good ? success() : Status(kFailure);
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (op.operand(0).dtype == DType::kF32) {
      evaluate_unary_float(data, [range = range()](float x) { return bound(x, range); });
    } else {
      evaluate_unary_int(op, data, quantized(op));
    }
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    if (op.operand(0).dtype == DType::kI8) return lower_byte_function(op, std::string(name_), quantized(op));
    if (op.operand(0).dtype == DType::kI16) return lower_int16(op);
    return lower_unary(op, std::string(name_),
                       [&](tir::FunctionBuilder&, const tir::Ex& x) { return emit_clamp(x, range()); });
  }

 private:
  // LiteRT has no kernel for the other.
  bool takes_int16() const { return activation_ != Activation::kReluN1To1; }

  Lowered lower_int16(const OpView& op) const {
    ClampI32 clamp = quantized_clamp(activation_, op.result());
    if (op.operand(0).scale() == op.result().scale())
      return lower_unary(op, std::string(name_),
                         [&](tir::FunctionBuilder&, const tir::Ex& x) { return emit_bound(x, clamp, -32768, 32767); });
    return lower_scaled(op, std::string(name_), {real(op), real(op)}, clamp);
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

  std::string_view name_, summary_;
  Activation activation_;
};

}  // namespace

void add_operators_relu(OperatorSet& set) {
  set.add(std::make_unique<Relu>("relu", "max(x, 0)", Activation::kRelu));
  set.add(std::make_unique<Relu>("relu6", "x clamped to 0 .. 6", Activation::kRelu6));
  set.add(std::make_unique<Relu>("relu_n1_to_1", "x clamped to -1 .. 1", Activation::kReluN1To1));
}

}  // namespace aotc::ops
