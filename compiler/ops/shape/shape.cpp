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
  std::string_view name() const override { return "shape"; }
  std::string_view summary() const override { return "the dimensions of a tensor, as a constant"; }
  // Of the result.
  std::vector<TypeSupport> types() const override { return constants_only({DType::kI32, DType::kI64}); }
  Traits traits() const override { return {.reads_shapes_only = true}; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 1, 1, diags)) return kFailure;
    return std::vector<graph::Shape>{{static_cast<int64_t>(op.operand(0).shape.size())}};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (op.result().dtype == DType::kI64) return success();
    return check_result_type(op, 0, DType::kI32, diags) ? success() : Status(kFailure);
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    narrow(op.result().dtype, op.operand(0).shape, data.results[0]);
  }
};

class Rank final : public ConstantsOnly {
 public:
  std::string_view name() const override { return "rank"; }
  std::string_view summary() const override { return "how many dimensions a tensor has"; }
  std::vector<TypeSupport> types() const override { return constants_only({DType::kI32}); }
  Traits traits() const override { return {.reads_shapes_only = true}; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 1, 1, diags)) return kFailure;
    return std::vector<graph::Shape>{{}};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    return check_result_type(op, 0, DType::kI32, diags) ? success() : Status(kFailure);
  }

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
