// SPDX-License-Identifier: Apache-2.0
// The arithmetic of TIR, for constant folding in the builder, the verifier and the interpreter. The functions with a
// result parameter return false if execution would trap. For i32, u32 and i64, a result outside the type's range traps
// unless `wrapping` is set.
#pragma once

#include <cstdint>
#include <string_view>

#include "tir/tir.h"

namespace aotc::tir {

constexpr bool is_comparison(BinaryOp op) { return op >= BinaryOp::kEq && op <= BinaryOp::kGe; }
// True for comparisons and logical operators, whose result is i32 0 or 1 for any operand type.
constexpr bool gives_truth(BinaryOp op) { return op >= BinaryOp::kEq; }

inline bool fits(DType type, int64_t v) {
  IntRange r = int_range(type);
  return v >= r.min && v <= r.max;
}

// Reduces `v` to the width of `type`, in two's complement.
int64_t wrap_to(DType type, int64_t v);

bool fold_int(BinaryOp op, DType type, int64_t a, int64_t b, bool wrapping, int64_t* result);
// As fold_int; f32 operands and results are rounded to float. Also false for operators that floats do not have.
bool fold_float(BinaryOp op, DType type, double a, double b, double* result);
bool fold_int_cast(DType type, int64_t v, bool wrapping, int64_t* result);
// Truncates `v` toward zero; false for NaN and values out of range.
bool float_to_int(DType type, double v, int64_t* result);
double int_to_float(DType type, int64_t v);

// An intrinsic: a function that a Call may name.
struct IntrinsicInfo {
  Intrinsic id;
  std::string_view name;
  int args;
  bool is_scalar;  // false for memory functions, which only Evaluate may call
};
const IntrinsicInfo& info_of(Intrinsic id);
// The result type of a call of the intrinsic with operands of `type`.
DType result_type(Intrinsic id, DType type);
const IntrinsicInfo* intrinsic_from_name(std::string_view name);

// Returns the operator's spelling in the text form ("+", "min"); min and max are printed as calls.
std::string_view spelling_of(BinaryOp op);
std::string_view spelling_of(UnaryOp op);
std::string_view spelling_of(Role role);

}  // namespace aotc::tir
