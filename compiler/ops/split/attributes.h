// SPDX-License-Identifier: Apache-2.0
// Attributes of split.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/attributes.h"

namespace aotc::ops {

struct SplitAttrs : graph::Attributes<SplitAttrs> {
  int32_t axis = 0;
  std::vector<int64_t> sizes;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("axis", self.axis);
    field("sizes", self.sizes);
  }
};

inline constexpr size_t kMostResults = 1000;

}  // namespace aotc::ops
