// SPDX-License-Identifier: Apache-2.0
// Operators whose results may be pieces of their operand: bytes that lie there one behind the other, so that a
// planner need not copy them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/common/affine_map.h"

namespace aotc::ops {

// What an operator is besides `Operator` that can say where its results lie in operand 0.
class TakesPieces {
 public:
  virtual ~TakesPieces() = default;
  // Of a verified operator: for each result the element of operand 0 with which it begins; nothing if the
  // elements of a result lie there in another way.
  virtual std::optional<std::vector<int64_t>> pieces(const OpView& op) const = 0;
};

// Of a whole that is cut into parts, and of a map to one result.
std::optional<std::vector<int64_t>> pieces_of(const Parts& parts);
std::optional<std::vector<int64_t>> pieces_of(const AffineMap& map);

// Are the results elements of operand 0 and nothing else?
bool takes_pieces(const graph::Op& op);

// Of any operator; nothing also where types differ.
std::optional<std::vector<int64_t>> pieces_of(const OpView& op);

}  // namespace aotc::ops
