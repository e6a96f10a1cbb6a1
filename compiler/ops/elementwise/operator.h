// SPDX-License-Identifier: Apache-2.0
// The operator that a row of a table is.
#pragma once

#include "ops/elementwise/table.h"

namespace aotc::ops::elementwise {

class RowOperator final : public Operator, public Fusable, public Transposable {
 public:
  explicit RowOperator(const Row& row) : row_(row) {}

  std::string_view name() const override { return row_.name; }
  std::string_view summary() const override { return row_.summary; }
  std::vector<TypeSupport> types() const override;
  Traits traits() const override;
  std::shared_ptr<graph::AttributesBase> default_attributes() const override;
  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override;
  Status verify(const OpView& op, Diagnostics& diags) const override;
  void evaluate(const OpView& op, const EvalData& data) const override;
  Lowered lower(const OpView& op, const TargetInfo& target) const override;
  std::optional<AxisFlow> axis_flow(const OpView& op) const override;
  std::optional<Activation> as_activation(const OpView& op) const override {
    return row_.activation == nullptr ? std::nullopt : row_.activation(op);
  }

 private:
  bool check_types(const OpView& op, Diagnostics& diags) const;
  bool check_scales(const OpView& op, Diagnostics& diags) const;
  std::vector<graph::Shape> shapes(const OpView& op) const;
  Lowered lower_elements(const OpView& op) const;

  const Row& row_;
};

}  // namespace aotc::ops::elementwise
