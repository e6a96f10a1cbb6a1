// SPDX-License-Identifier: Apache-2.0
// Attributes of elementwise operators that have some.
#pragma once

#include <cstdint>
#include <limits>

#include "graph/attributes.h"

namespace aotc::ops {

struct GeluAttrs : graph::Attributes<GeluAttrs> {
  bool approximate = false;
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("approximate", self.approximate);
  }
};

struct BoundedAttrs : graph::Attributes<BoundedAttrs> {
  float low = std::numeric_limits<float>::lowest(), high = std::numeric_limits<float>::max();
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("low", self.low);
    field("high", self.high);
  }
};

}  // namespace aotc::ops
