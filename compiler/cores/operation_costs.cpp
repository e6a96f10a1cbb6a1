// SPDX-License-Identifier: Apache-2.0
#include "cores/operation_costs.h"

#include "cores/cpu.h"
#include "cores/family.h"

namespace aotc::cores {

namespace {

constexpr double kDivideCycles = 14;       // VDIV.F32, VSQRT.F32 of Cortex-M4 and M7
constexpr double kCyclesOfFunction = 1.5;  // of an instruction in the C library's functions

}  // namespace

void OperationCosts::scale(double by) {
  for (double* cost :
       {&memory, &store, &alu, &multiply, &high, &divide, &divide_any, &choose, &saturate, &turn, &branch, &call})
    *cost *= by;
}

OperationCosts operation_costs(const ops::TargetInfo& target) {
  OperationCosts c;
  for (const Family& family : families())
    if (family.operations != nullptr && family.name == target.family) family.operations(target, c);
  if (target.calls_intrinsics()) c.packed_product = 1;
  if (!target.fpu) {
    c.float_add = 100;
    c.float_multiply = 75;
    c.float_divide = 250;
    c.exponential = c.function = 1200;
  }
  return c;
}

OperationCosts expected_costs(const ops::TargetInfo& target) {
  OperationCosts c = operation_costs(target);
  c.code = code_costs(target);
  if (c.code) c.call = c.code->function;
  return c;
}

OperationCosts operation_cycles(const ops::TargetInfo& target) {
  OperationCosts c = operation_costs(target);
  const machine::Timing* t = timing_of(target.name);
  c.timing = t;
  if (t == nullptr) return c;
  c.memory *= (t->load + t->next_load) / 2;
  c.store *= t->store;
  c.multiply *= c.fused ? t->multiply_add : t->multiply;
  c.high *= t->long_multiply;
  c.packed_product *= t->multiply_add;
  for (double* simple : {&c.alu, &c.choose, &c.saturate, &c.argument, &c.divide, &c.divide_any}) *simple *= t->alu;
  c.turn = c.turn * t->alu + t->refill;
  c.branch = c.branch * t->alu + t->refill / 2;
  // Half of a frame's instructions are loads and stores of many.
  c.call = c.call * t->alu + 2 * t->many + 8 * t->each + t->refill + t->load_refill;
  c.kernel_call = c.kernel_call * t->alu + 2 * t->refill;
  c.short_block = target.unaligned_words ? 4 : 1;
  c.block_byte *= (t->load + t->store + t->refill + 2 * t->alu) / 5;
  if (void (*in_programs)(OperationCosts&) = find_core(target.name)->in_programs) in_programs(c);
  if (!target.fpu) return c;
  c.float_add *= t->float_op + t->float_wait / 2;
  c.float_multiply *= (t->float_op + t->float_multiply_add) / 2;
  c.float_divide = kDivideCycles + t->float_wait;
  c.exponential *= kCyclesOfFunction;
  c.function *= kCyclesOfFunction;
  return c;
}

}  // namespace aotc::cores
