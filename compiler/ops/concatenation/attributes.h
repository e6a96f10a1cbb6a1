// SPDX-License-Identifier: Apache-2.0
// Attributes of concatenation.
#pragma once

#include <cstdint>

#include "ops/operator.h"

namespace aotc::ops {

struct ConcatenationAttrs : graph::Attributes<ConcatenationAttrs> {
  int32_t axis = 0;
  // Of int8 that is uint8 in the model: operands of another quantisation are brought to the result's.
  bool requantize = false;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("axis", self.axis);
    field("requantize", self.requantize);
  }
};

inline constexpr size_t kMostJoined = 1000;

// Has an operand another quantisation than the result?
bool needs_requantization(const OpView& op);

}  // namespace aotc::ops
