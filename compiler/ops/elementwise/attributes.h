// SPDX-License-Identifier: Apache-2.0
// Attributes of elementwise operators that have some.
#pragma once

#include <cstdint>

#include "graph/attributes.h"

namespace aotc::ops {

struct GeluAttrs : graph::Attributes<GeluAttrs> {
  bool approximate = false;
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("approximate", self.approximate);
  }
};

}  // namespace aotc::ops
