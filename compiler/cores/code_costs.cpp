// SPDX-License-Identifier: Apache-2.0
#include "cores/code_costs.h"

namespace aotc::cores {

namespace {

constexpr int kThumb1Registers = 8;

// Functions of libgcc for binary32.
void soft_float_of_arm(CodeCosts& c) {
  c.float_unit = false;
  c.float_add_zero = 30, c.float_multiply_zero = 25, c.float_round = 40, c.float_add = 52, c.float_multiply = 40,
  c.float_divide = 75, c.float_compare = 18, c.float_choose = 2;
  c.to_float = 22, c.from_float = 15;
  c.library = {.exponential = 1200,
               .logarithm = 1300,
               .tanh = 1500,
               .erf = 1500,
               .sine = 1100,
               .cosine = 1200,
               .power = 4500,
               .floor = 25,
               .ceil = 25,
               .round = 19,
               .round_to_even = 120,
               .sqrt = 250,
               .remainder = 60,
               .erfc = 1600,
               .expm1 = 1300,
               .atan2 = 1700};
}

void armv8_1(CodeCosts& c) {
  c.selects = c.double_unit = c.loop_ends = true;
  c.choose = 1, c.truth = 1, c.float_choose = 1.5;
  c.shift64 = 5;  // pairs of registers are moved to those that LSRL and ASRL take
  c.double_add = c.double_multiply = c.double_divide = 1;
  c.double_compare = 2, c.double_function = 51;
  c.wide_to_double = 44, c.wide_to_float = 30, c.double_round = 1;
  c.double_to_float = c.float_to_double = 1, c.double_to_integer = c.integer_to_double = 2;
  c.library = {.exponential = 37,
               .logarithm = 43,
               .tanh = 92,
               .erf = 41,
               .sine = 25,
               .cosine = 26,
               .power = 86,
               .floor = 1,
               .ceil = 1,
               .round = 1,
               .round_to_even = 1,
               .sqrt = 4,
               .remainder = 62,
               .erfc = 50,
               .expm1 = 47,
               .atan2 = 110};
}

CodeCosts riscv() {
  CodeCosts c;
  c.thumb = false;
  c.integer_registers = 27;
  c.offset_bytes = c.float_offset_bytes = 2047;
  c.compare = 0, c.choose = 1.7, c.saturate = 3.4, c.relu = 3, c.truth = 1;
  c.widening = 2, c.multiply64 = 6, c.add64 = 4, c.shift64 = 3, c.compare64 = 2, c.divide64 = 68;
  c.extend = 2;
  c.function = 12, c.parameter = 2;
  c.copy = 9, c.copy_byte = 6, c.fill = 9, c.fill_byte = 4;
  c.inline_copy = 8, c.inline_fill = 8, c.copy_part = 1;
  c.double_add = 104, c.double_multiply = 199, c.double_divide = 211, c.double_compare = 30;
  c.double_function = 2978, c.double_to_float = 36, c.float_to_double = 32, c.double_to_integer = 17;
  c.integer_to_double = 50, c.wide_to_double = 71, c.wide_to_float = 103, c.double_round = 45;
  return c;
}

void soft_float_of_riscv(CodeCosts& c) {
  c.float_unit = false;
  c.float_add_zero = 48, c.float_multiply_zero = 70, c.float_round = 40, c.float_add = 77, c.float_multiply = 111,
  c.float_divide = 104, c.float_compare = 20, c.float_choose = 1;
  c.to_float = 42, c.from_float = 13;
  c.library = {.exponential = 1740,
               .logarithm = 2420,
               .tanh = 3150,
               .erf = 2130,
               .sine = 1430,
               .cosine = 1780,
               .power = 8115,
               .floor = 22,
               .ceil = 24,
               .round = 22,
               .round_to_even = 208,
               .sqrt = 265,
               .remainder = 91,
               .erfc = 2550,
               .expm1 = 2330,
               .atan2 = 2889};
}

}  // namespace

std::optional<CodeCosts> code_costs(const ops::TargetInfo& target) {
  CodeCosts c;
  if (target.family == "arm" && target.registers != kThumb1Registers) {
    if (target.vector_bytes) armv8_1(c);
    if (!target.fpu) soft_float_of_arm(c);
    c.packed_products = target.calls_intrinsics();
    return c;
  }
  if (target.family != "riscv") return std::nullopt;
  c = riscv();
  if (!target.fpu) soft_float_of_riscv(c);
  return c;
}

}  // namespace aotc::cores
