// SPDX-License-Identifier: Apache-2.0
// What non_max_suppression and class_suppression are told.
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

struct ClassSuppressionAttrs : graph::Attributes<ClassSuppressionAttrs> {
  int32_t most = 1;        // boxes of each class that are chosen
  float overlap = 0.5f;    // what overlaps more falls out
  float score = 0.0f;      // a box with no more is no candidate,
  bool has_score = false;  // if there is such a limit
  bool centre = false;     // boxes are (x, y) of the centre, width, height; else two corners (y, x)

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("most", self.most);
    field("overlap", self.overlap);
    field("score", self.score);
    field("has_score", self.has_score);
    field("centre", self.centre);
  }
};

}  // namespace aotc::ops
