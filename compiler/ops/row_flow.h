// SPDX-License-Identifier: Apache-2.0
// How the rows of a result (dimension 1 of four, a batch of one) come of the rows of what is read: what an operator
// says so that it can be computed row by row, from windows of its operands that hold some rows each. The one thing to
// know: the same operator on a window of `rows` rows, without padding above and below, gives the one row.
#pragma once

#include <cstdint>
#include <vector>

namespace aotc::ops {

// Row y of the result needs rows [y * stride - before, y * stride - before + rows) of operand 0, and row y of every
// other operand that has as many rows as the result.
struct RowFlow {
  int64_t rows = 1, stride = 1;
  int64_t before = 0, after = 0;  // rows that are read as if they stood above and below operand 0
  std::vector<uint8_t> fill;      // the bytes of an element of those
};

}  // namespace aotc::ops
