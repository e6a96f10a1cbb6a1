// SPDX-License-Identifier: Apache-2.0
// Attributes of reshape.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/attributes.h"

namespace aotc::ops {

struct ReshapeAttrs : graph::Attributes<ReshapeAttrs> {
  std::vector<int64_t> shape;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("shape", self.shape);
  }
};

}  // namespace aotc::ops
