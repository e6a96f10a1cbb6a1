// SPDX-License-Identifier: Apache-2.0
// What C computes an i32 expression in: int, which may have 16 bits, or something wider, and between
// which values. The printer asks to keep arithmetic from overflowing a small int, and, for CPUs whose
// int has 16 bits, to leave in int what fits there. The one thing to know: a range always holds every
// value that can occur; where nothing is known there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "tir/tir.h"

namespace aotc::codegen {

struct CRange {
  int64_t low = 0, high = 0;
  bool is_int = false;  // C computes it in int; else in an int32_t
  bool fits_int() const { return low >= -32768 && high <= 32767; }
};

class CRanges {
 public:
  // `narrow`: elements of small types and variables that fit are left in int; else they are int32_t.
  explicit CRanges(bool narrow) : narrow_(narrow) {}

  bool narrow() const { return narrow_; }
  std::optional<CRange> of(const tir::ExprPtr& e) const;
  // Is the result too large for the int that C would compute it in?
  bool leaves_int(const tir::Binary& n) const;
  bool leaves_int(const tir::Unary& n) const;
  // A product of two values that are not known, both and the result in int.
  bool is_int_product(const tir::Binary& n) const;

  // The C type of a variable, whose values are remembered: "int16_t" where they fit and `narrow`.
  const char* type_of_let(const tir::VarPtr& var, const tir::ExprPtr& init);
  const char* type_of_loop(const tir::For& loop);
  // Anything can be assigned to it.
  void forget(const tir::VarPtr& var) { known_.erase(var.get()); }

 private:
  std::optional<CRange> binary(const tir::Binary& n) const;
  std::optional<CRange> unary(const tir::Unary& n) const;

  bool narrow_;
  std::unordered_map<const tir::Variable*, CRange> known_;
};

}  // namespace aotc::codegen
