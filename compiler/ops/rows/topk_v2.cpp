// SPDX-License-Identifier: Apache-2.0
// topk_v2: the k largest elements of each row and their indices; of equal ones the first, and what is not a
// number behind all that are, or in front of them. Each is found by going through the row for the largest behind the
// one before, which needs no memory.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/rows/attributes.h"
#include "ops/rows/rows.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

// An element and where it is.
struct Place {
  Ex value, index;
};

// Does a come in front of b?
Ex before(const Place& a, const Place& b, bool nan_first) {
  Ex first = b.value < a.value || (b.value == a.value && a.index < b.index);
  if (a.value.type() != DType::kF32) return first;
  Ex a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
  if (nan_first) return select(b_is_nan, a_is_nan && a.index < b.index, a_is_nan || first);
  return select(a_is_nan, b_is_nan && a.index < b.index, b_is_nan || first);
}

class TopK final : public SpecifiedOperator {
 public:
  TopK()
      : SpecifiedOperator(
            {.name = "topk_v2",
             .summary = "the largest elements of rows, and their indices",
             .operands = {{.name = "x",
                           .types = {DType::kI8, DType::kF32, DType::kI16, DType::kI32, DType::kI64, DType::kU8},
                           .ranks = {1}}},
             .results = {{.name = "values"}, {.name = "indices", .types = {DType::kI32}}},
             .shapes = Shapes::kOwn,
             .attributes = make_attributes<TopKAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "topk_v2");
    BufferPtr in = f.operand(0), values = f.result(0), indices = f.result(1);
    int64_t n = op.operand(0).shape.back(), k = op.attrs<TopKAttrs>().k;
    const bool nan_first = op.attrs<TopKAttrs>().nan_first;
    f.loop("r", 0, op.operand(0).elements() / std::max<int64_t>(n, 1), [&](Ex r) {
      Ex row = f.let("row", r * n);
      Place last{f.var("last", load(in, row)), f.var("last_at", Ex(-1))};
      f.loop("rank", 0, k, [&](Ex rank) {
        Place best{f.var("best", load(in, row)), f.var("best_at", Ex(-1))};
        f.loop("i", 0, n, [&](Ex i) {
          Place here{f.let("x", load(in, row + i)), i};
          Ex left = last.index < 0 || before(last, here, nan_first);
          f.if_(left && (best.index < 0 || before(here, best, nan_first)), [&] {
            f.assign(best.value, here.value);
            f.assign(best.index, i);
          });
        });
        f.store(values, r * k + rank, best.value);
        f.store(indices, r * k + rank, best.index);
        f.assign(last.value, best.value);
        f.assign(last.index, best.index);
      });
    });
    return f.finish("one pass per element found");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    graph::Shape shape = op.operand(0).shape;
    int32_t k = op.attrs<TopKAttrs>().k;
    if (k < 1 || k > shape.back()) {
      bad_attribute(op, diags, fmt::format("the {} largest of rows of {}", k, shape.back()));
      return kFailure;
    }
    shape.back() = k;
    return std::vector<graph::Shape>{shape, shape};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const bool whole = op.operand(0).dtype == DType::kI32 || op.operand(0).dtype == DType::kI64;
    return whole || check_same_quantization(op, 0, 0, diags);
  }
};

}  // namespace

void add_topk(OperatorSet& set) { set.add(std::make_unique<TopK>()); }

}  // namespace aotc::ops
