// SPDX-License-Identifier: Apache-2.0
#include "target/cpu.h"

#include <algorithm>
#include <iterator>

namespace aotc::target {

namespace {

struct CycleRow {
  const char* cpu;
  ops::Costs cycles;
};

// Cortex-M0, M3, M4: instruction timing tables of the technical reference manuals. A load is 2 cycles,
// 1 where it follows another: 1.5 in the mean. Most loads of kernels for the DSP extension are of two
// words, which is one more each: 2.5 for the cores that have it. M7 and M33 have
// no published tables: throughput of LLVM 19's scheduling models (llvm-mca) on the inner loops of
// our kernels. M55: its software optimisation guide; a vector instruction is two beats. RV32: a
// three-stage core with a single-cycle multiplier.
constexpr CycleRow kCycles[] = {
    //              load store alu  mul  dual high div  branch vector
    {"cortex-m0", {2.0, 2.0, 1.0, 1.0, 1.0, 17.0, 40.0, 3.0, 1.0}},
    {"cortex-m0plus", {2.0, 2.0, 1.0, 1.0, 1.0, 17.0, 40.0, 2.0, 1.0}},
    {"cortex-m3", {1.5, 1.0, 1.0, 2.0, 2.0, 4.0, 7.0, 3.0, 1.0}},
    {"cortex-m4", {2.5, 1.0, 1.0, 1.0, 1.0, 1.0, 7.0, 3.0, 1.0}},
    {"cortex-m7", {1.0, 0.6, 0.5, 1.0, 1.0, 1.0, 5.0, 1.0, 1.0}},
    {"cortex-m33", {2.2, 1.0, 1.0, 1.0, 1.0, 1.0, 6.0, 2.0, 1.0}},
    {"cortex-m55", {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 6.0, 2.0, 2.0}},
    {"rv32imac", {2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 35.0, 3.0, 1.0}},
    {"rv32imc", {2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 35.0, 3.0, 1.0}},
};

// Those of which nothing is known that would tell them from the middle of the table.
constexpr const char* kWithoutTable[] = {"native",     "generic",    "xtensa-lx6",
                                         "xtensa-lx7", "atmega328p", "atmega2560"};

}  // namespace

ops::Costs cycle_costs(std::string_view cpu) {
  for (const CycleRow& row : kCycles)
    if (cpu == row.cpu) return row.cycles;
  return kCycles[2].cycles;
}

bool knows_cpu(std::string_view cpu) {
  for (const CycleRow& row : kCycles)
    if (cpu == row.cpu) return true;
  return std::find(std::begin(kWithoutTable), std::end(kWithoutTable), cpu) != std::end(kWithoutTable);
}

ops::TargetInfo for_level(ops::TargetInfo target, ops::Level level) {
  target.level = level;
  if (level == ops::Level::kSize) target.gemm_unroll = 1;
  return target;
}

ops::TargetInfo target_info(const CpuQuery& query) {
  ops::TargetInfo t;
  t.name = query.cpu;
  t.fpu = query.has("fpu");
  t.unaligned_words = query.has("unaligned") && query.isa != "native";
  t.harvard = query.has("harvard");
  if (query.isa.starts_with("rv32")) {
    t.registers = 27;
    t.gemm_pixels = 4;
    t.gemm_channels = 4;
    // gcc's scheduler moves the loads of several steps together and then runs out of registers.
    t.gemm_unroll = 1;
    t.multiply_add = 2;
    t.triple_channels = 4;
    t.fence_steps = true;
    t.quad_units = true;
  } else if (query.isa == "armv6-m") {
    t.registers = 8;
    t.gemm_pixels = 2;
    t.gemm_channels = 2;
    t.multiply_add = 2;
    t.triple_channels = 1;
    t.quad_units = true;
    t.costs.high = 20;  // four multiplies and their sums: there is no long one
  } else if (query.isa.starts_with("avr")) {
    // Eight-bit registers: 32 of them hold four sums and little else.
    t.registers = 6;
    t.gemm_pixels = 1;
    t.gemm_channels = 2;
    t.gemm_unroll = 1;
    t.costs = {4, 4, 4, 20, 20, 60, 600, 4, 4};
    t.fp64 = false;
    t.narrow_int = true;
    // The first 64 KiB, which interrupt vectors and other tables share; pointer differences have a sign.
    t.program_reach = 61440;
    t.largest_object = 32767;
  } else if (query.isa != "native") {
    t.registers = 13;
    t.gemm_pixels = 4;
    t.gemm_channels = 2;
    t.triple_channels = 4;
    t.quad_units = true;
  }
  t.cycles = cycle_costs(query.cpu);
  t.dsp = query.assembly && query.has("dsp");
  t.mve = query.assembly && query.has("mve");
  return t;
}

}  // namespace aotc::target
