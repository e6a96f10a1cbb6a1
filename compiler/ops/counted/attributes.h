// SPDX-License-Identifier: Apache-2.0
// What unique_rows is told.
#pragma once

#include "graph/attributes.h"

namespace aotc::ops {

struct UniqueRowsAttrs : graph::Attributes<UniqueRowsAttrs> {
  bool sorted = true;  // else in the order in which they come first

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("sorted", self.sorted);
  }
};

}  // namespace aotc::ops
