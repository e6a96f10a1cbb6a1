// SPDX-License-Identifier: Apache-2.0
// Attributes of batch_matmul.
#pragma once

#include <cstdint>

#include "graph/attributes.h"
#include "ops/common/rounding.h"

namespace aotc::ops {

struct BatchMatmulAttrs : graph::Attributes<BatchMatmulAttrs> {
  bool adj_x = false, adj_y = false;
  RoundingRule rounding = RoundingRule::kLitert;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("adj_x", self.adj_x);
    field("adj_y", self.adj_y);
    field("rounding", self.rounding);
  }
};

}  // namespace aotc::ops
