// SPDX-License-Identifier: Apache-2.0
// Registers an operator for every row of every table.
#include "ops/elementwise/operator.h"

namespace aotc::ops {

void add_operators_elementwise(OperatorSet& set) {
  for (auto rows : {elementwise::comparison_rows(), elementwise::logical_rows(),
                    elementwise::arithmetic_rows()})
    for (const elementwise::Row& row : rows)
      set.add(std::make_unique<elementwise::RowOperator>(row));
}

}  // namespace aotc::ops
