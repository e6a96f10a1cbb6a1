// SPDX-License-Identifier: Apache-2.0
// Cycles of instructions of the Cortex-M series; docs/cycles.md says how sure each table is.
#pragma once

#include "machine/timing.h"

namespace aotc::cores::arm {

inline constexpr machine::Timing kCortexM0 = {.source = "Arm Cortex-M0 TRM, 3.3 instruction set summary",
                                              .next_load = 2,
                                              .store = 2,
                                              .divide = 1,  // there is none
                                              .refill = 2,
                                              .load_refill = 3,
                                              .call = 1};

inline constexpr machine::Timing kCortexM0Plus = {.source = "Arm Cortex-M0+ TRM, 3.3 instruction set summary",
                                                  .next_load = 2,
                                                  .store = 2,
                                                  .divide = 1,  // there is none
                                                  .refill = 1,
                                                  .load_refill = 2,
                                                  .call = 1};

// SMULL takes 3 to 5 cycles, SMLAL 4 to 7, divisions 2 to 12, by their operands: the middle.
inline constexpr machine::Timing kCortexM3 = {
    .source = "Arm Cortex-M3 TRM, 3.3 instruction set summary", .multiply_add = 2, .long_multiply = 4, .long_add = 5.5};

inline constexpr machine::Timing kCortexM4 = {.source = "Arm Cortex-M4 TRM, 3.3 instruction set summary, 7.2 FPU"};

inline constexpr machine::Timing kCortexM33 = {.source = "the model of Cortex-M4: Arm publishes none of Cortex-M33"};

// Two instructions in a cycle, where they go together: what loops of kernels reach, by LLVM's
// scheduling model.
inline constexpr machine::Timing kCortexM7 = {.source = "throughput by LLVM's model of Cortex-M7: low confidence",
                                              .alu = 0.5,
                                              .load = 1,
                                              .store = 0.6,
                                              .load_pair = 1,
                                              .store_pair = 1,
                                              .many = 0.5,
                                              .each = 0.5,
                                              .divide = 5,
                                              .refill = 0.5,
                                              .load_refill = 1.5,
                                              .float_multiply_add = 1,
                                              .float_wait = 0.5,
                                              .float_load = 1,
                                              .float_store = 1};

// A vector is two beats of two cycles; loads, products and the rest are done at the same time.
inline constexpr machine::Timing kCortexM55 = {.source = "Arm Cortex-M55 Software Optimization Guide",
                                               .load = 1,
                                               .load_pair = 2,
                                               .store_pair = 2,
                                               .each = 0.5,
                                               .refill = 1,
                                               .load_refill = 2,
                                               .float_multiply_add = 2,
                                               .float_load = 1,
                                               .float_store = 1};

// One beat in a cycle, by the vector costs of LLVM.
inline constexpr machine::Timing kCortexM52 = [] {
  machine::Timing out = kCortexM55;
  out.source = "the model of Cortex-M55 with one beat in a cycle: low confidence";
  out.vector = 4;
  out.vector_before_other = 2;
  return out;
}();

// Two beats in a cycle, by the vector costs of LLVM. The pairs of other instructions that it issues are not modelled.
inline constexpr machine::Timing kCortexM85 = [] {
  machine::Timing out = kCortexM55;
  out.source = "the model of Cortex-M55, without pairs of instructions: low confidence";
  return out;
}();

}  // namespace aotc::cores::arm
