// SPDX-License-Identifier: Apache-2.0
// unique: the values that a row has, in the order in which they come first, and for each element which of them
// it is. 0 and -0 are one value, the first of them; NaN is equal to nothing.
#include <cstring>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/counted/counted.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

// Calls `take` with each element, which of the values it is, and is it a new one?
template <typename T, typename F>
void go_through(std::span<const uint8_t> bytes, const F& take) {
  std::vector<T> values;
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    T x;
    std::memcpy(&x, bytes.data() + i * sizeof(T), sizeof(T));
    auto found = static_cast<size_t>(std::find(values.begin(), values.end(), x) - values.begin());
    const bool is_new = found == values.size();
    if (is_new) values.push_back(x);
    take(i, found, is_new);
  }
}

template <typename F>
void go_through(DType type, std::span<const uint8_t> bytes, const F& take) {
  if (type == DType::kF32) return go_through<float>(bytes, take);
  switch (size_of(type)) {
    case 1: return go_through<uint8_t>(bytes, take);
    case 2: return go_through<uint16_t>(bytes, take);
    case 4: return go_through<uint32_t>(bytes, take);
    default: return go_through<uint64_t>(bytes, take);
  }
}

class Unique final : public SpecifiedOperator {
 public:
  Unique()
      : SpecifiedOperator({.name = "unique",
                           .summary = "values that differ, which of them each is, and how many",
                           .operands = {{.name = "x",
                                         .types = counted_types({DType::kI8, DType::kU8, DType::kI16, DType::kI32,
                                                                 DType::kI64, DType::kF32}),
                                         .ranks = {1, 1}}},
                           .results = {{.name = "values"},
                                       {.name = "which", .types = {DType::kI32, DType::kI64}},
                                       {.name = "count", .types = {DType::kI32}, .optional = true}},
                           .shapes = Shapes::kOwn,
                           .quantized = Quantized::kCopied}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    const DType type = op.operand(0).dtype;
    const auto each = static_cast<size_t>(size_of(type));
    std::fill(data.results[0].begin(), data.results[0].end(), uint8_t{0});
    int32_t count = 0;
    go_through(type, data.operands[0], [&](size_t i, size_t which, bool is_new) {
      if (is_new) {
        std::memcpy(data.results[0].data() + which * each, data.operands[0].data() + i * each, each);
        ++count;
      }
      if (op.result(1).dtype == DType::kI64) data.out<int64_t>(1)[i] = static_cast<int64_t>(which);
      else data.out<int32_t>(1)[i] = static_cast<int32_t>(which);
    });
    if (data.results.size() > 2) data.out<int32_t>(2)[0] = count;
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "unique");
    BufferPtr in = f.operand(0), values = f.result(0), indices = f.result(1);
    Ex count = f.var("count", 0);
    f.loop("i", 0, in->elements, [&](const Ex& i) {
      Ex x = f.let("x", load(in, i));
      Ex now = f.let("now", count), at = f.var("at", now);
      f.loop("k", 0, now, [&](const Ex& k) { f.if_(load(values, k) == x, [&] { f.assign(at, k); }); });
      f.if_(at == now, [&] {
        f.store(values, now, x);
        f.assign(count, now + 1);
      });
      f.store(indices, i, op.result(1).dtype == DType::kI64 ? cast(DType::kI64, at) : at);
    });
    Ex all = f.let("all", count);
    f.loop("i", all, values->elements, [&](const Ex& i) {
      const DType type = tir::promoted(values->dtype);
      f.store(values, i, is_float(type) ? tir::f32(0.0f) : tir::imm(type, 0));
    });
    if (op.op.results.size() > 2) f.store(f.result(2), 0, all);
    return f.finish("each element is looked for among the values so far");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    // With a count the shape is the largest, also where a pass finds the operand's value.
    const bool known = op.constant(0) != nullptr && op.op.results.size() != 3;
    if (!check_counts(op, 1, 1, known ? 2 : 3, diags)) return kFailure;
    const graph::TensorType& in = op.operand(0);
    if (!known) return std::vector<graph::Shape>{in.shape, in.shape, {1}};
    const std::vector<int64_t> places = places_of_new(in.dtype, op.constant(0)->bytes);
    return std::vector<graph::Shape>{{static_cast<int64_t>(places.size())}, in.shape};
  }
};

}  // namespace

std::vector<int64_t> places_of_new(DType type, std::span<const uint8_t> bytes) {
  std::vector<int64_t> out;
  go_through(type, bytes, [&](size_t i, size_t, bool is_new) {
    if (is_new) out.push_back(static_cast<int64_t>(i));
  });
  return out;
}

void add_unique(OperatorSet& set) { set.add(std::make_unique<Unique>()); }

}  // namespace aotc::ops
