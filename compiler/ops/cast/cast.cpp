// SPDX-License-Identifier: Apache-2.0
// cast: between element types, by value. Integers keep their low bits; floats truncate and
// saturate.
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

using tir::Ex;
using tir::f32;

const std::vector<DType>& cast_types() {
  static const std::vector<DType> all = {DType::kBool, DType::kI8,  DType::kU8,  DType::kI16, DType::kU16,
                                         DType::kI32,  DType::kU32, DType::kI64, DType::kF32};
  return all;
}

// Floats strictly between these truncate into the type; both are exact. From 32 bits on no float
// lies between the type's smallest value and the next integer, so that value itself is the limit.
struct FloatLimits {
  float least, most;
  explicit FloatLimits(DType type) {
    IntRange range = int_range(type);
    most = std::ldexp(1.0f, size_of(type) * 8 - (range.min < 0 ? 1 : 0));
    least = static_cast<float>(size_of(type) >= 4 ? range.min : range.min - 1);
  }
};

int64_t truncated(float x, DType type) {
  IntRange range = int_range(type);
  FloatLimits limits(type);
  if (!(x < limits.most)) return range.max;  // NaN too
  if (!(x > limits.least)) return range.min;
  return static_cast<int64_t>(x);
}

Ex emit_truncated(const Ex& x, DType type) {
  IntRange range = int_range(type);
  FloatLimits limits(type);
  DType wide = tir::promoted(type);
  return select(x < f32(limits.most), select(x > f32(limits.least), cast(wide, x), tir::imm(wide, range.min)),
                tir::imm(wide, range.max));
}

// Sign or zero extension of the low bits.
int64_t low_bits(int64_t x, DType type) {
  int drop = 64 - 8 * size_of(type);
  uint64_t high = static_cast<uint64_t>(x) << drop;
  return int_range(type).min < 0 ? static_cast<int64_t>(high) >> drop : static_cast<int64_t>(high >> drop);
}

class Cast final : public SpecifiedOperator, public Fusable {
 public:
  Cast()
      : SpecifiedOperator({.name = "cast",
                           .summary = "change of element type, by value",
                           .operands = {{.name = "x", .types = {cast_types().begin(), cast_types().end()}}},
                           .results = {{.name = "y", .types = cast_types()}},
                           .traits = {.elementwise = true}}) {}

  bool is_identity(const OpView& op) const override { return op.operand(0).dtype == op.result().dtype; }

  void evaluate(const OpView& op, const EvalData& data) const override {
    DType from = op.operand(0).dtype, to = op.result().dtype;
    if (from == to) {
      std::memcpy(data.results[0].data(), data.operands[0].data(), data.results[0].size());
    } else if (from == DType::kF32) {
      std::vector<int64_t> out;
      for (float x : data.in<float>(0)) out.push_back(to == DType::kBool ? (x != 0.0f ? 1 : 0) : truncated(x, to));
      narrow(to, out, data.results[0]);
    } else if (to == DType::kF32) {
      std::vector<int64_t> in = widen(from, data.operands[0]);
      for (size_t i = 0; i < in.size(); ++i) data.out<float>()[i] = static_cast<float>(in[i]);
    } else {
      evaluate_unary_int(
          op, data, [to](int64_t x) -> int64_t { return to == DType::kBool ? (x != 0 ? 1 : 0) : low_bits(x, to); });
    }
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    DType from = op.operand(0).dtype, to = op.result().dtype;
    return lower_unary(op, "cast", [&](tir::FunctionBuilder&, const Ex& x) -> Ex {
      if (from == to) return x;
      if (to == DType::kBool) return x != (from == DType::kF32 ? f32(0.0f) : tir::imm(x.type(), 0));
      if (from == DType::kF32) return emit_truncated(x, to);
      if (to == DType::kF32) return cast(to, x);
      IntRange range = int_range(to), values = int_range(from);
      bool fits = range.min <= values.min && values.max <= range.max;
      return fits ? cast(tir::promoted(to), x) : cast_wrapping(to, x);
    });
  }
};

}  // namespace

void add_operators_cast(OperatorSet& set) { set.add(std::make_unique<Cast>()); }

}  // namespace aotc::ops
