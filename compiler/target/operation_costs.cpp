// SPDX-License-Identifier: Apache-2.0
#include "target/operation_costs.h"

#include "target/family.h"

namespace aotc::target {

void OperationCosts::scale(double by) {
  for (double* cost : {&memory, &alu, &multiply, &high, &divide, &divide_any, &choose, &saturate, &turn, &branch, &call})
    *cost *= by;
}

OperationCosts operation_costs(const ops::TargetInfo& target) {
  OperationCosts c;
  for (const Family& family : families())
    if (family.operations != nullptr && family.name == target.family) family.operations(target, c);
  if (!target.fpu) {
    c.float_add = 100;
    c.float_multiply = 75;
    c.float_divide = 250;
    c.function = 1200;
  }
  return c;
}

}  // namespace aotc::target
