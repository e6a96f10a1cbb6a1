// SPDX-License-Identifier: Apache-2.0
// An operator that reads all of operand 0 for its result and can take it a piece at a time, so that the operand is
// never there as a whole: it keeps sums, or largest elements, from piece to piece. The one thing to know: elements are
// added in the order in which the operator adds them itself, so sums of floats are the same, too.
#pragma once

#include "ops/lowering.h"

namespace aotc::ops {

// Three functions, whose scratch parameter is what is kept.
struct RowSums {
  Lowered begin;  // what is kept before the first piece
  Lowered add;    // operand 0 is one piece; a scalar parameter says which, if the function has one
  Lowered end;    // the result
  DType type = DType::kI32;
  int64_t elements = 0;  // that are kept

  int64_t bytes() const { return elements * size_of(type); }
};

// In what sums of integers whose magnitude is at most so much are kept.
inline DType type_of_sums(int64_t largest) { return largest <= 32767 ? DType::kI16 : DType::kI32; }

}  // namespace aotc::ops
