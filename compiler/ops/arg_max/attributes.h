// SPDX-License-Identifier: Apache-2.0
// Attributes of arg_max and arg_min.
#pragma once

#include <cstdint>

#include "graph/attributes.h"

namespace aotc::ops {

struct ArgAttrs : graph::Attributes<ArgAttrs> {
  int32_t axis = 0;
  bool last = false;       // of equal ones the last
  bool nan_stays = false;  // what is not a number stays the best where it is the first

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("axis", self.axis);
    field("last", self.last);
    field("nan_stays", self.nan_stays);
  }
};

}  // namespace aotc::ops
