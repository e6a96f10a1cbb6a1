// SPDX-License-Identifier: Apache-2.0
// What compilers make of operations, in instructions and in cycles: the defaults are Thumb-2's, families of CPUs state
// others.
#pragma once

#include <optional>

#include "cores/code_costs.h"
#include "machine/timing.h"
#include "ops/lowering.h"

namespace aotc::cores {

// What compilers make of an operation, in instructions or in cycles.
struct OperationCosts {
  double memory = 1;  // a load, its address at hand
  double store = 1;
  double alu = 1;
  double multiply = 1;
  double high = 1;    // high word of a product, or a sum of 64 bits
  double divide = 6;  // by a constant
  double divide_any = 12;
  double choose = 2;    // min, max, select: beside their operands
  double saturate = 1;  // to int8
  double turn = 4;      // of a loop
  double branch = 2;
  double float_add = 1.35, float_multiply = 1.1, float_divide = 1;
  double exponential = 60, function = 105;  // exp; tanh, log ...
  double call = 14;                         // of a function, with its frame
  double kernel_call = 4, argument = 1;     // of a kernel, and each of its arguments
  double block = 24, block_byte = 1.25;     // memcpy, memset
  // Bytes that one instruction moves in blocks so short that they are no call; 0: every block counts as a call.
  int short_block = 0;
  bool fused = true;  // a product and a sum are one
  double packed_product = 0;  // two products of halfwords and a sum, by an intrinsic; 0: by other operations
  // Kernels in assembly are counted in cycles; nullptr: in instructions.
  const machine::Timing* timing = nullptr;
  // The code around kernels is counted as compilers emit it (cores/code_model.h); nullopt: by the costs above.
  std::optional<CodeCosts> code = std::nullopt;

  // All but float operations, which are functions or take what they take.
  void scale(double by);
};

OperationCosts operation_costs(const ops::TargetInfo& target);
// In instructions, as close as possible to what runs, where operation_costs() errs on the side of more.
OperationCosts expected_costs(const ops::TargetInfo& target);
// In cycles, in the mean of what programs need; without a timing for a core of which nothing is known.
OperationCosts operation_cycles(const ops::TargetInfo& target);

}  // namespace aotc::cores
