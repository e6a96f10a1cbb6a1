// SPDX-License-Identifier: Apache-2.0
// Operators that make the elements of their result's last dimension each with weights of its own. The one thing to
// know: such an element is the same bits whatever others are made beside it, so some of them can be left out.
#pragma once

#include <cstdint>

#include "ops/operator.h"

namespace aotc::ops {

// What an operator is besides `Operator` whose operand 1 may be a constant with a row for each unit, and operand 2 a
// constant list of as many, or absent.
class HasUnits {
 public:
  virtual ~HasUnits() = default;
  // Of a verified operator: how many there are; 0 where operands are others.
  virtual int64_t units(const OpView& op) const = 0;
};

// Of any operator.
inline int64_t units_of(const OpView& op) {
  const auto* units = dynamic_cast<const HasUnits*>(op.op.definition);
  return units != nullptr ? units->units(op) : 0;
}

}  // namespace aotc::ops
