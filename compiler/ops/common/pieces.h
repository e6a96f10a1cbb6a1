// SPDX-License-Identifier: Apache-2.0
// Operators whose results may be pieces of their operand, or whose operands pieces of their result: bytes that lie
// there one behind the other, so that a planner need not copy them.
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

// What an operator is besides `Operator` that can say where its operands lie in its only result.
class JoinsPieces {
 public:
  virtual ~JoinsPieces() = default;
  // Of a verified operator: for each operand the element of the result with which it begins; nothing if the result has
  // other elements than those, or they lie there in another way.
  virtual std::optional<std::vector<int64_t>> joined(const OpView& op) const = 0;
};

// Of a whole that is cut into parts, and of a map to one result.
std::optional<std::vector<int64_t>> pieces_of(const Parts& parts);
std::optional<std::vector<int64_t>> pieces_of(const AffineMap& map);

// Are the results elements of operand 0 and nothing else?
bool takes_pieces(const graph::Op& op);

// Of any operator; nothing also where types differ.
std::optional<std::vector<int64_t>> pieces_of(const OpView& op);
std::optional<std::vector<int64_t>> joined_of(const OpView& op);

// Of an operator that joins pieces, and whose result holds some of them before it runs: the others are put there. At
// least one is not.
Lowered lower_joined(const OpView& op, const std::vector<bool>& there);
// Of an operator whose only result is a piece of its operand: the piece is moved to where the operand begins, which is
// where the result lies.
Lowered lower_moved_piece(const OpView& op);

}  // namespace aotc::ops
