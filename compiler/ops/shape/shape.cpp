// SPDX-License-Identifier: Apache-2.0
// shape and rank: the dimensions of a tensor, and how many there are. Shapes are static, so both
// are known while compiling, whatever the tensor holds.
#include "ops/common/checks.h"
#include "ops/common/constants_only.h"
#include "ops/common/elementwise.h"

namespace aotc::ops {

namespace {

class Shape final : public ConstantsOnly {
 public:
  Shape()
      : ConstantsOnly({.name = "shape",
                       .summary = "the dimensions of a tensor, as a constant",
                       .operands = {{.name = "x"}},
                       .results = {{.name = "shape", .types = {DType::kI32, DType::kI64}}},
                       .shapes = Shapes::kOwn,
                       .traits = {.reads_shapes_only = true}}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    narrow(op.result().dtype, op.operand(0).shape, data.results[0]);
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics&) const override {
    return std::vector<graph::Shape>{{static_cast<int64_t>(op.operand(0).shape.size())}};
  }
};

class Rank final : public ConstantsOnly {
 public:
  Rank()
      : ConstantsOnly({.name = "rank",
                       .summary = "how many dimensions a tensor has",
                       .operands = {{.name = "x"}},
                       .results = {{.name = "rank", .types = {DType::kI32}, .shape_of = ResultSpec::kScalar}},
                       .traits = {.reads_shapes_only = true}}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    data.out<int32_t>()[0] = static_cast<int32_t>(op.operand(0).shape.size());
  }
};

}  // namespace

void add_operators_shape(OperatorSet& set) {
  set.add(std::make_unique<Shape>());
  set.add(std::make_unique<Rank>());
}

}  // namespace aotc::ops
