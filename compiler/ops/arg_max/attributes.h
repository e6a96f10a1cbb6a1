// SPDX-License-Identifier: Apache-2.0
// Attributes of arg_max and arg_min.
#pragma once

#include <cstdint>

#include "graph/attributes.h"

namespace aotc::ops {

struct ArgAttrs : graph::Attributes<ArgAttrs> {
  int32_t axis = 0;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("axis", self.axis);
  }
};

}  // namespace aotc::ops
