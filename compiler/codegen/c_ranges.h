// SPDX-License-Identifier: Apache-2.0
// CRanges determines the range of an i32 expression's values, and the C type in which the expression is computed (int,
// which may have 16 bits, or a wider type). The printer uses this to avoid overflow of a 16-bit int. For CPUs with
// 16-bit int, it also keeps values that fit in int. A range contains every value that can occur; nullopt if nothing is
// known.
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
  // `narrow`, for CPUs with 16-bit int: elements of small types, and variables whose values fit, are int. Without it
  // they are int32_t.
  explicit CRanges(bool narrow) : narrow_(narrow) {}

  bool narrow() const { return narrow_; }
  std::optional<CRange> of(const tir::ExprPtr& e) const;
  // True if the result may overflow the int in which C would compute it.
  bool leaves_int(const tir::Binary& n) const;
  bool leaves_int(const tir::Unary& n) const;
  // True if `narrow` and the expression is a product of two non-constant int values, and the product fits in int.
  bool is_int_product(const tir::Binary& n) const;

  // The C type of a variable: "int16_t", or "int8_t" for a loaded int8, if `narrow` and the values fit; else nullptr.
  // Records the range of the variable.
  const char* type_of_let(const tir::VarPtr& var, const tir::ExprPtr& init);
  const char* type_of_loop(const tir::For& loop);
  // Forgets the range of a variable that may be assigned any value.
  void forget(const tir::VarPtr& var) { known_.erase(var.get()); }

 private:
  std::optional<CRange> binary(const tir::Binary& n) const;
  std::optional<CRange> unary(const tir::Unary& n) const;

  bool narrow_;
  std::unordered_map<const tir::Variable*, CRange> known_;
};

}  // namespace aotc::codegen
