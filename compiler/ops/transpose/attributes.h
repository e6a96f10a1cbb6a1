// SPDX-License-Identifier: Apache-2.0
// Attributes of transpose.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/attributes.h"

namespace aotc::ops {

struct TransposeAttrs : graph::Attributes<TransposeAttrs> {
  std::vector<int64_t> order;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("order", self.order);
  }
};

}  // namespace aotc::ops
