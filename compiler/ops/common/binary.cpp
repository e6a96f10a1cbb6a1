// SPDX-License-Identifier: Apache-2.0
#include "ops/common/binary.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/common/activation_checks.h"
#include "ops/common/checks.h"
#include "ops/common/lut.h"
#include "ops/common/requantize.h"
#include "tir/arithmetic.h"

namespace aotc::ops {

using tir::Ex;

std::optional<AxisFlow> BinaryElementwise::axis_flow(const OpView& op) const {
  return broadcast_axes({op.operand(0).shape, op.operand(1).shape}, op.result().shape);
}

void evaluate_binary_float(const OpView& op, const EvalData& data, const std::function<float(float, float)>& element) {
  auto a = data.in<float>(0);
  auto b = data.in<float>(1);
  auto out = data.out<float>();
  Broadcast(op).for_each([&](size_t at, const std::vector<int64_t>& from) {
    out[at] = element(a[static_cast<size_t>(from[0])], b[static_cast<size_t>(from[1])]);
  });
}

void evaluate_binary_int(const OpView& op, const EvalData& data,
                         const std::function<int64_t(int64_t, int64_t)>& element) {
  std::vector<int64_t> a = widen(op.operand(0).dtype, data.operands[0]);
  std::vector<int64_t> b = widen(op.operand(1).dtype, data.operands[1]);
  std::vector<int64_t> out(static_cast<size_t>(op.result().elements()));
  Broadcast(op).for_each([&](size_t at, const std::vector<int64_t>& from) {
    out[at] = element(a[static_cast<size_t>(from[0])], b[static_cast<size_t>(from[1])]);
  });
  narrow(op.result().dtype, out, data.results[0]);
}

Lowered lower_binary(const OpView& op, const std::string& name,
                     const std::function<Ex(const Ex&, const Ex&)>& element) {
  LoweringBuilder f(op, name);
  std::vector<tir::BufferPtr> in = {f.operand(0), f.operand(1)};
  tir::BufferPtr out = f.result();
  Broadcast nest(op);
  nest.emit(
      f, out, [&](size_t i, const Ex& index) { return f.let(i == 0 ? "a" : "b", load(in[i], index)); },
      [&](const std::vector<Ex>& v) { return element(v[0], v[1]); });
  publish_in_place(f, op);
  return f.finish(nest.loops().size() > 1 ? "broadcast" : "flat loop");
}

std::optional<Lowered> lower_with_scalar(const OpView& op, const std::string& name,
                                         const std::function<int64_t(int64_t, int64_t)>& element) {
  for (size_t scalar = 0; scalar < 2; ++scalar) {
    size_t other = 1 - scalar;
    const graph::ConstantView* c = op.constant(scalar);
    if (c == nullptr || op.operand(scalar).elements() != 1 || !is_byte(op.operand(other).dtype) ||
        op.operand(other).elements() != op.result().elements())
      continue;
    int64_t value = widen(op.operand(scalar).dtype, c->bytes)[0];
    return lower_byte_function(
        op, name, [&](int64_t x) { return scalar == 0 ? element(value, x) : element(x, value); }, other);
  }
  return std::nullopt;
}

namespace {

Activation activation_of(const OpView& op) { return op.attrs<BinaryAttrs>().activation; }

// int16 by the rule of onnxruntime: what the file states, in float32.
bool is_literal(const OpView& op) {
  return op.operand(0).dtype == DType::kI16 && op.attrs<BinaryAttrs>().rounding == PairRounding::kOnnxruntime;
}

// The bounds of a literal result, less its zero point.
ClampF32 literal_bounds(const OpView& op) {
  const ClampI32 clamp = quantized_clamp(activation_of(op), op.result());
  return {static_cast<float>(clamp.min - op.result().zero_point()),
          static_cast<float>(clamp.max - op.result().zero_point())};
}

}  // namespace

IntRange integer_clamp(Activation activation, DType type) {
  IntRange range = int_range(type);
  switch (activation) {
    case Activation::kUnbounded:
    case Activation::kNone: break;
    case Activation::kRelu: return {0, range.max};
    case Activation::kRelu6: return {0, 6};
    case Activation::kReluN1To1: return {-1, 1};
  }
  return range;
}

Ex emit_integer_clamp(const Ex& v, Activation activation) {
  IntRange range = int_range(v.type()), wanted = integer_clamp(activation, v.type());
  Ex out = v;
  if (wanted.min > range.min) out = max(out, tir::imm(v.type(), wanted.min));
  if (wanted.max < range.max) out = min(out, tir::imm(v.type(), wanted.max));
  return out;
}

BinaryArithmetic::BinaryArithmetic(std::string_view name, std::string_view summary)
    : BinaryElementwise({.name = name,
                         .summary = summary,
                         .operands = {{.name = "a",
                                       .types = {DType::kI8,
                                                 DType::kU8,
                                                 {DType::kI16, "quantised, zero points 0"},
                                                 {DType::kI32, "wraps around"},
                                                 DType::kF32,
                                                 {DType::kI64, "wraps around"}}},
                                      {.name = "b", .same_type_as = 0}},
                         .results = {{.name = "y"}},
                         .shapes = Shapes::kBroadcast,
                         .quantized = Quantized::kPerTensor,
                         .uint8 = Uint8::kShifted,
                         .attributes = make_attributes<BinaryAttrs>}) {}

bool BinaryArithmetic::check(const OpView& op, Diagnostics& diags) const {
  if (!check_activation_bounds(op, activation_of(op), diags) ||
      !check_rounding_rule(op, op.attrs<BinaryAttrs>().rounding, diags, is_literal(op)))
    return false;
  DType type = op.operand(0).dtype;
  if (is_literal(op)) return true;
  if (type == DType::kI16 && !check_symmetric_io(op, diags)) return false;
  bool quantized = type == DType::kI8 || type == DType::kI16;
  if (quantized && !verify_quantized(op, diags)) return false;
  return !op.attrs<BinaryAttrs>().shift_only || type == DType::kI16 ||
         bad_attribute(op, diags, "shift_only is for int16");
}

void BinaryArithmetic::evaluate(const OpView& op, const EvalData& data) const {
  switch (op.operand(0).dtype) {
    case DType::kF32: {
      ClampF32 range = float_clamp(activation_of(op));
      return evaluate_binary_float(op, data, [&](float a, float b) { return bound(compute(a, b), range); });
    }
    case DType::kI32:
    case DType::kI64: {
      DType type = op.operand(0).dtype;
      IntRange range = integer_clamp(activation_of(op), type);
      return evaluate_binary_int(op, data, [&](int64_t a, int64_t b) -> int64_t {
        uint64_t low = compute(static_cast<uint64_t>(a), static_cast<uint64_t>(b));
        return std::clamp(tir::wrap_to(type, static_cast<int64_t>(low)), range.min, range.max);
      });
    }
    default: break;
  }
  if (!is_literal(op)) return evaluate_binary_int(op, data, quantized(op));
  const graph::TensorType &p = op.operand(0), &q = op.operand(1), &y = op.result();
  evaluate_binary_int(op, data, [&, range = literal_bounds(op)](int64_t a, int64_t b) -> int64_t {
    const float v =
        compute(static_cast<float>(a - p.zero_point()) * p.scale(), static_cast<float>(b - q.zero_point()) * q.scale());
    return static_cast<int64_t>(std::nearbyint(std::clamp(v / y.scale(), range.min, range.max))) + y.zero_point();
  });
}

namespace {

Ex emit_real(const Ex& stored, const graph::TensorType& type) {
  return cast(DType::kF32, stored - type.zero_point()) * tir::f32(type.scale());
}

}  // namespace

Lowered BinaryArithmetic::lower_literal(const OpView& op) const {
  const ClampF32 range = literal_bounds(op);
  return lower_binary(op, std::string(name()), [&](const Ex& a, const Ex& b) {
    Ex place = emit(emit_real(a, op.operand(0)), emit_real(b, op.operand(1))) / tir::f32(op.result().scale());
    Ex whole = emit_nearest_even(clamp(place, tir::f32(range.min), tir::f32(range.max)));
    return cast(DType::kI32, whole) + op.result().zero_point();
  });
}

Lowered BinaryArithmetic::lower(const OpView& op, const TargetInfo& target) const {
  std::string name(this->name());
  switch (op.operand(0).dtype) {
    case DType::kF32:
      return lower_binary(
          op, name, [&](const Ex& a, const Ex& b) { return emit_clamp(emit(a, b), float_clamp(activation_of(op))); });
    case DType::kI32:
    case DType::kI64:
      return lower_binary(op, name,
                          [&](const Ex& a, const Ex& b) { return emit_integer_clamp(emit(a, b), activation_of(op)); });
    default: break;
  }
  if (is_literal(op)) return lower_literal(op);
  if (auto table = lower_with_scalar(op, name, quantized(op))) return std::move(*table);
  return lower_quantized(op, target);
}

}  // namespace aotc::ops
