// SPDX-License-Identifier: Apache-2.0
// CodeCosts: instructions that an optimising C compiler (gcc -O2) emits for the operations of a lowered function on a
// core, and instructions that the C library's functions run. cores/code_model.h applies them.
#pragma once

#include <optional>

#include "ops/lowering.h"

namespace aotc::cores {

// Instructions of one call of a library function, with the branch to it and the moves of its arguments: the mean over
// operands of a normal distribution, counted once in the emulator. The standard deviation for exp, tanh and erfc is
// 0.6: networks after initialisation have 0.3, trained ones 1 and more. tests/bench/estimates.py shows how far off they
// are.
struct LibraryCosts {
  double exponential = 60, logarithm = 76, tanh = 92, erf = 40, sine = 32, cosine = 39, power = 243;
  double floor = 25, ceil = 25, round = 19, round_to_even = 33, sqrt = 4, remainder = 55, erfc = 51, expm1 = 46;
  double atan2 = 108;
};

struct CodeCosts {
  bool thumb = true;                                       // shifted operands, MLA, post-indexed addresses, IT blocks
  bool packed_products = false;                            // SMLAD by intrinsics
  bool selects = false;                                    // CSEL, VSEL, VRINTx: Armv8.1-M
  bool loop_ends = false;                                  // LE, of Armv8.1-M
  bool float_unit = true;                                  // instructions for f32
  bool double_unit = false;                                // instructions for f64
  int integer_registers = 14;                              // that values of a loop can stay in
  int64_t offset_bytes = 4095, float_offset_bytes = 1020;  // largest offset of an address

  double compare = 1, branch = 1;  // a comparison of integers; the branch on it
  double choose = 2;               // one of two integers, beside the comparison
  double saturate = 1;             // to the range of a signed type
  double relu = 1;                 // max(x, 0)
  double truth = 3;                // a comparison as a number
  double widening = 1;             // 32 x 32 -> 64 bits
  double multiply64 = 3, add64 = 2, shift64 = 3, compare64 = 3;
  double divide = 4, divide_any = 1, divide64 = 60;  // by a constant; by a variable; of 64 bits
  double extend = 1;                                 // sign extension of a value to its type

  double float_add = 1, float_multiply = 1, float_divide = 1;
  double float_add_zero = 1, float_multiply_zero = 1;  // with an operand that is 0
  double float_round = 1;                              // a sum with a constant above 2^22
  double float_compare = 2, float_choose = 2;          // the flags of a comparison; a choice by flags
  double to_float = 2, from_float = 2;                 // conversions, with the move between register files
  double double_add = 71, double_multiply = 51, double_divide = 577, double_compare = 25, double_function = 1788;
  double double_to_float = 15, float_to_double = 10, double_to_integer = 10, integer_to_double = 35;
  double wide_to_double = 43, wide_to_float = 29, double_round = 40;

  double function = 8, parameter = 1.3;  // a call of an operator function, and each of its parameters
  double kernel_call = 4, argument = 1;  // of a kernel in assembly
  double copy = 20, copy_byte = 0.54, fill = 26, fill_byte = 0.45;  // memcpy and memset of the library
  double inline_copy = 64, inline_fill = 16;                        // bytes of the longest copy and fill without a call
  int64_t copy_part = 4;                                            // bytes that an instruction of these moves
  LibraryCosts library;
};

// nullopt for families whose code is not modelled.
std::optional<CodeCosts> code_costs(const ops::TargetInfo& target);

}  // namespace aotc::cores
