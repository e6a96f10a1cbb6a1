// SPDX-License-Identifier: Apache-2.0
// bitcast: the bytes of a tensor as elements of another type, the lowest byte first. Types of another size add or
// take the last dimension.
#include <cstring>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::Ex;

namespace {

// Integers of the width of arithmetic: i32 up to 4 bytes, else i64.
Ex bits_of(const Ex& x) {
  if (is_float(x.type())) return call(tir::Intrinsic::kFloatBits, DType::kI32, {x});
  return x.type() == DType::kI64 ? x : cast_wrapping(DType::kI32, x);
}

Ex as_type(DType type, const Ex& bits) {
  if (type == DType::kF32) return call(tir::Intrinsic::kFloatFromBits, DType::kF32, {cast_wrapping(DType::kI32, bits)});
  return bits.type() == type ? bits : cast_wrapping(type, bits);
}

class Bitcast final : public SpecifiedOperator {
 public:
  Bitcast()
      : SpecifiedOperator({.name = "bitcast",
                           .summary = "the same bytes as elements of another type",
                           .operands = {{.name = "x",
                                         .types = {DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kU32,
                                                   DType::kI64, DType::kF32}}},
                           .results = {{.name = "y",
                                        .types = {DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kU32,
                                                  DType::kI64, DType::kF32}}},
                           .shapes = Shapes::kOwn}) {}

  void evaluate(const OpView&, const EvalData& data) const override {
    std::memcpy(data.results[0].data(), data.operands[0].data(), data.results[0].size());
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const DType from = op.operand(0).dtype, to = op.result().dtype;
    const int parts = std::max(size_of(from) / size_of(to), size_of(to) / size_of(from));
    LoweringBuilder f(op, "bitcast");
    tir::BufferPtr in = f.operand(0), out = f.result();
    f.loop("i", 0, std::min(in->elements, out->elements), [&](const Ex& i) {
      if (size_of(from) >= size_of(to)) {
        Ex bits = f.let("bits", bits_of(load(in, i)));
        for (int k = 0; k < parts; ++k)
          f.store(out, i * parts + k, as_type(to, k == 0 ? bits : bits >> tir::imm(bits.type(), 8 * size_of(to) * k)));
        return;
      }
      const DType wide = size_of(to) == 8 ? DType::kI64 : DType::kI32;
      Ex bits = f.var("bits", tir::imm(wide, 0));
      for (int k = parts - 1; k >= 0; --k) {
        const int width = 8 * size_of(from);
        Ex part = cast(wide, bits_of(load(in, i * parts + k)));
        if (size_of(from) < size_of(wide)) part = part & tir::imm(wide, (int64_t{1} << width) - 1);
        f.assign(bits, shl_wrapping(bits, tir::imm(wide, width)) | part);
      }
      f.store(out, i, as_type(to, bits));
    });
    return f.finish();
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    graph::Shape shape = op.operand(0).shape;
    const int from = size_of(op.operand(0).dtype), to = size_of(op.result().dtype);
    if (from > to) shape.push_back(from / to);
    if (from < to) {
      if (shape.empty() || shape.back() != to / from) {
        bad_shape(op, diags,
                  fmt::format("{} of {} are no elements of {}", name_of(op.operand(0).dtype), graph::to_string(shape),
                              name_of(op.result().dtype)));
        return kFailure;
      }
      shape.pop_back();
    }
    return std::vector<graph::Shape>{shape};
  }
};

}  // namespace

void add_operators_bitcast(OperatorSet& set) { set.add(std::make_unique<Bitcast>()); }

}  // namespace aotc::ops
