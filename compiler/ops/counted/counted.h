// SPDX-License-Identifier: Apache-2.0
// What operators have in common whose results have as many rows as the data says. The one thing to know: in a
// graph such a result has the largest shape it can have, what does not count is zeros, and one more result, an
// int32, is the number of rows. On a constant the number is known: then the shape is exact and the count left out.
#pragma once

#include <vector>

#include "ops/signature.h"

namespace aotc::ops {

// Which elements of a constant differ from 0, or from all before them.
std::vector<int64_t> places_not_zero(DType type, std::span<const uint8_t> bytes);
std::vector<int64_t> places_of_new(DType type, std::span<const uint8_t> bytes);

// Types whose results have the largest shape, and a count.
inline std::vector<TypeEntry> counted_types(std::initializer_list<DType> types) {
  std::vector<TypeEntry> out;
  for (DType t : types) out.emplace_back(t, "largest shape and a count");
  return out;
}

// Each defined in the file of its name.
void add_unique(OperatorSet& set);
void add_unique_rows(OperatorSet& set);

}  // namespace aotc::ops
