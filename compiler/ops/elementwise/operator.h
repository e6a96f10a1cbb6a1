// SPDX-License-Identifier: Apache-2.0
// The operator that a row of a table is.
#pragma once

#include "ops/elementwise/table.h"
#include "ops/signature.h"

namespace aotc::ops::elementwise {

class RowOperator final : public SpecifiedOperator, public Fusable, public Transposable {
 public:
  explicit RowOperator(const Row& row);

  void evaluate(const OpView& op, const EvalData& data) const override;
  Lowered lower(const OpView& op, const TargetInfo& target) const override;
  std::optional<AxisFlow> axis_flow(const OpView& op) const override;
  std::optional<Activation> as_activation(const OpView& op) const override {
    return row_.activation == nullptr ? std::nullopt : row_.activation(op);
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override;
  bool check(const OpView& op, Diagnostics& diags) const override;

 private:
  std::vector<graph::Shape> aligned_shapes(const OpView& op) const;
  Lowered lower_elements(const OpView& op) const;

  const Row& row_;
};

}  // namespace aotc::ops::elementwise
