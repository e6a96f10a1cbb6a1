// SPDX-License-Identifier: Apache-2.0
// What non_max_suppression is told.
#pragma once

#include <cstdint>

#include "graph/attributes.h"

namespace aotc::ops {

struct SuppressionAttrs : graph::Attributes<SuppressionAttrs> {
  int32_t most = 1;  // boxes that are chosen
  float overlap = 0.5f, score = 0.0f, sigma = 0.0f;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("most", self.most);
    field("overlap", self.overlap);
    field("score", self.score);
    field("sigma", self.sigma);
  }
};

}  // namespace aotc::ops
