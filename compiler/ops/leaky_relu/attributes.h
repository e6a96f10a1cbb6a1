// SPDX-License-Identifier: Apache-2.0
// Attributes of leaky_relu.
#pragma once

#include <cstdint>

#include "graph/attributes.h"

namespace aotc::ops {

struct LeakyReluAttrs : graph::Attributes<LeakyReluAttrs> {
  float alpha = 0.0f;
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("alpha", self.alpha);
  }
};

}  // namespace aotc::ops
