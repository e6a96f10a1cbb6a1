// SPDX-License-Identifier: Apache-2.0
// Registers an operator for every row of every table.
#include "ops/elementwise/operator.h"

namespace aotc::ops {

void add_operators_elementwise(OperatorSet& set) {
  using namespace elementwise;
  for (auto rows : {comparison_rows(), logical_rows(), arithmetic_rows(), division_rows(), function_rows(),
                    power_rows(), rounding_rows(), bit_rows()})
    for (const Row& row : rows) set.add(std::make_unique<RowOperator>(row));
}

}  // namespace aotc::ops
