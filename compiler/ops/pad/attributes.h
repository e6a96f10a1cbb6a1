// SPDX-License-Identifier: Apache-2.0
// Attributes of pad.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/attributes.h"

namespace aotc::ops {

struct PadAttrs : graph::Attributes<PadAttrs> {
  std::vector<int64_t> before, after;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("before", self.before);
    field("after", self.after);
  }
};

}  // namespace aotc::ops
