// SPDX-License-Identifier: Apache-2.0
// Base of operators with two broadcast operands, and what add, sub and mul share: attributes
// and the three kinds of elements. An operator says what it
// computes of two stored values; everything else is here.
#pragma once

#include "ops/common/broadcast.h"
#include "ops/common/elementwise.h"
#include "ops/common/rounding.h"
#include "ops/signature.h"

namespace aotc::ops {

struct BinaryAttrs : graph::Attributes<BinaryAttrs> {
  Activation activation = Activation::kNone;
  // add and sub of int16: scales are powers of two, one operand has the result's, and the other is
  // shifted to it.
  bool shift_only = false;
  // For add and mul. kOnnxruntime of int16 operands computes the written formula in float32.
  PairRounding rounding = PairRounding::kLitert;
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("activation", self.activation);
    field("shift_only", self.shift_only);
    field("rounding", self.rounding);
  }
};

class BinaryElementwise : public SpecifiedOperator, public Transposable {
 public:
  using SpecifiedOperator::SpecifiedOperator;
  std::optional<AxisFlow> axis_flow(const OpView& op) const override;
};

// out = element(a, b) on floats, and on integers of any width.
void evaluate_binary_float(const OpView& op, const EvalData& data, const std::function<float(float, float)>& element);
void evaluate_binary_int(const OpView& op, const EvalData& data,
                         const std::function<int64_t(int64_t, int64_t)>& element);

// One loop nest, out = element(a, b) of loaded values.
Lowered lower_binary(const OpView& op, const std::string& name,
                     const std::function<tir::Ex(const tir::Ex&, const tir::Ex&)>& element);

// If one operand is a constant of one element and the other has 8 bits and the result's shape: the
// function of the latter, as a table or less.
std::optional<Lowered> lower_with_scalar(const OpView& op, const std::string& name,
                                         const std::function<int64_t(int64_t, int64_t)>& element);

// What an activation leaves of int32 and int64.
IntRange integer_clamp(Activation activation, DType type);
tir::Ex emit_integer_clamp(const tir::Ex& v, Activation activation);

// add, sub, mul: int8, int16, int32, int64 and float32 with a fused activation.
class BinaryArithmetic : public BinaryElementwise {
 public:
  BinaryArithmetic(std::string_view name, std::string_view summary);
  void evaluate(const OpView& op, const EvalData& data) const override;
  Lowered lower(const OpView& op, const TargetInfo& target) const override;

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override;
  virtual float compute(float a, float b) const = 0;
  virtual uint64_t compute(uint64_t a, uint64_t b) const = 0;          // the low bits of integers
  virtual tir::Ex emit(const tir::Ex& a, const tir::Ex& b) const = 0;  // float32, or wrapping integers
  // int8, int16: stored values to the stored result; called often, so the parameters are worked out once.
  virtual std::function<int64_t(int64_t, int64_t)> quantized(const OpView& op) const = 0;
  virtual bool verify_quantized(const OpView& op, Diagnostics& diags) const = 0;
  virtual Lowered lower_quantized(const OpView& op, const TargetInfo& target) const = 0;

 private:
  Lowered lower_literal(const OpView& op) const;
};

}  // namespace aotc::ops
