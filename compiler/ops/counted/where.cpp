// SPDX-License-Identifier: Apache-2.0
// where: the coordinates of elements that are not 0, in order. What carries a scale is compared as it is stored.
#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/movement.h"
#include "ops/counted/counted.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class Where final : public SpecifiedOperator {
 public:
  Where()
      : SpecifiedOperator({.name = "where",
                           .summary = "coordinates of what is not 0, and how many",
                           .operands = {{.name = "x",
                                         .types = counted_types({DType::kBool, DType::kI8, DType::kU8, DType::kI32,
                                                                 DType::kU32, DType::kI64, DType::kF32}),
                                         .ranks = {1}}},
                           .results = {{.name = "coordinates", .types = {DType::kI64}},
                                       {.name = "count", .types = {DType::kI32}, .optional = true}},
                           .shapes = Shapes::kOwn}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    const graph::Shape& shape = op.operand(0).shape;
    const std::vector<int64_t> strides = strides_of(shape);
    const std::vector<int64_t> places = places_not_zero(op.operand(0).dtype, data.operands[0]);
    std::fill(data.results[0].begin(), data.results[0].end(), uint8_t{0});
    size_t to = 0;
    for (int64_t place : places)
      for (size_t d = 0; d < shape.size(); ++d) data.out<int64_t>()[to++] = place / strides[d] % shape[d];
    if (data.results.size() > 1) data.out<int32_t>(1)[0] = static_cast<int32_t>(places.size());
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const graph::Shape& shape = op.operand(0).shape;
    auto rank = static_cast<int64_t>(shape.size());
    LoweringBuilder f(op, "where");
    BufferPtr in = f.operand(0), out = f.result(0);
    Ex count = f.var("count", 0), from = f.var("from", 0);
    std::vector<Ex> at;
    std::function<void()> go = [&] {
      if (at.size() < shape.size()) {
        f.loop("d" + std::to_string(at.size()), 0, shape[at.size()], [&](const Ex& i) {
          at.push_back(i);
          go();
          at.pop_back();
        });
        return;
      }
      Ex x = f.let("x", load(in, from));
      f.if_(x != (is_float(x.type()) ? tir::f32(0.0f) : tir::imm(x.type(), 0)), [&] {
        for (int64_t d = 0; d < rank; ++d)
          f.store(out, count * rank + d, cast(DType::kI64, at[static_cast<size_t>(d)]));
        f.assign(count, count + 1);
      });
      f.assign(from, from + 1);
    };
    go();
    Ex rows = f.let("rows", count);
    f.loop("i", rows * rank, out->elements, [&](const Ex& i) { f.store(out, i, tir::i64(0)); });
    if (op.op.results.size() > 1) f.store(f.result(1), 0, rows);
    return f.finish("one pass");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    // With a count the shape is the largest, also where a pass finds the operand's value.
    const bool known = op.constant(0) != nullptr && op.op.results.size() != 2;
    if (!check_counts(op, 1, 1, known ? 1 : 2, diags)) return kFailure;
    const graph::TensorType& in = op.operand(0);
    auto rank = static_cast<int64_t>(in.shape.size());
    if (!known) return std::vector<graph::Shape>{{in.elements(), rank}, {1}};
    const size_t rows = places_not_zero(in.dtype, op.constant(0)->bytes).size();
    return std::vector<graph::Shape>{{static_cast<int64_t>(rows), rank}};
  }
};

template <typename T>
std::vector<int64_t> places_as(std::span<const uint8_t> bytes) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    if (value != T{0}) out.push_back(static_cast<int64_t>(i));
  }
  return out;
}

}  // namespace

std::vector<int64_t> places_not_zero(DType type, std::span<const uint8_t> bytes) {
  if (type == DType::kF32) return places_as<float>(bytes);
  if (type == DType::kF64) return places_as<double>(bytes);
  switch (size_of(type)) {
    case 1: return places_as<uint8_t>(bytes);
    case 2: return places_as<uint16_t>(bytes);
    case 4: return places_as<uint32_t>(bytes);
    default: return places_as<uint64_t>(bytes);
  }
}

void add_operators_counted(OperatorSet& set) {
  set.add(std::make_unique<Where>());
  add_unique(set);
  add_unique_rows(set);
}

}  // namespace aotc::ops
