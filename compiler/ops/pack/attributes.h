// SPDX-License-Identifier: Apache-2.0
// Attributes of pack and unpack.
#pragma once

#include <cstdint>

#include "graph/attributes.h"

namespace aotc::ops {

struct PackAttrs : graph::Attributes<PackAttrs> {
  int32_t axis = 0;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("axis", self.axis);
  }
};

inline constexpr size_t kMostParts = 1000;

}  // namespace aotc::ops
