// SPDX-License-Identifier: Apache-2.0
// Attributes of operators on rows.
#pragma once

#include <cstdint>

#include "graph/attributes.h"

namespace aotc::ops {

struct CumsumAttrs : graph::Attributes<CumsumAttrs> {
  int32_t axis = 0;
  bool exclusive = false, reverse = false;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("axis", self.axis);
    field("exclusive", self.exclusive);
    field("reverse", self.reverse);
  }
};

struct LayerNormalizationAttrs : graph::Attributes<LayerNormalizationAttrs> {
  float epsilon = 1e-5f;  // added to the mean of squares
  bool centred = true;    // the mean of the row is taken off first

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("epsilon", self.epsilon);
    field("centred", self.centred);
  }
};

struct ResponseAttrs : graph::Attributes<ResponseAttrs> {
  int32_t radius = 1;
  float bias = 1.0f, alpha = 1.0f, beta = 0.5f;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("radius", self.radius);
    field("bias", self.bias);
    field("alpha", self.alpha);
    field("beta", self.beta);
  }
};

struct TopKAttrs : graph::Attributes<TopKAttrs> {
  int32_t k = 1;
  bool nan_first = false;  // what is not a number is the largest, and not the smallest

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("k", self.k);
    field("nan_first", self.nan_first);
  }
};

}  // namespace aotc::ops
