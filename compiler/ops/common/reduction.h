// SPDX-License-Identifier: Apache-2.0
// What operators that reduce along axes share: attributes and the shape of the
// result.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/operator.h"

namespace aotc::ops {

struct ReduceFields {
  std::vector<int64_t> axes;  // ascending
  bool keep_dims = false;

  template <typename Self, typename F>
  static void visit_reduction(Self& self, F&& field) {
    field("axes", self.axes);
    field("keep_dims", self.keep_dims);
  }
  bool reduces(size_t dim) const;
};

struct ReduceAttrs : graph::Attributes<ReduceAttrs>, ReduceFields {
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    visit_reduction(self, field);
  }
};

// Expects one operand. Reports [op-attribute] for axes that are not ascending or not of the operand.
Result<std::vector<graph::Shape>> infer_reduction(const OpView& op, const ReduceFields& attrs, Diagnostics& diags);

}  // namespace aotc::ops
