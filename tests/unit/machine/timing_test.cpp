// SPDX-License-Identifier: Apache-2.0
// Cycles counted by hand from the timing tables of the technical reference manuals.
#include "machine/timing.h"

#include <gtest/gtest.h>

#include "cores/cpu.h"
#include "machine/cycles.h"
#include "machine/objdump.h"

namespace aotc::machine {
namespace {

// Every line once, with branches taken where they are.
double cycles_of_lines(const char* cpu, Isa isa, const std::vector<std::pair<const char*, const char*>>& lines,
                       bool taken = false) {
  std::vector<Instruction> all;
  for (const auto& [name, operands] : lines)
    all.push_back(parse_instruction(isa, static_cast<uint32_t>(4 * all.size()), 4, name, operands));
  double out = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const InstructionCost cost = cost_of(*cores::timing_of(cpu), all[i], i > 0 ? &all[i - 1] : nullptr,
                                         i + 1 < all.size() ? &all[i + 1] : nullptr);
    out += cost.cycles + (taken ? cost.taken : 0);
  }
  return out;
}

TEST(Timing, LoadsThatFollowEachOther) {
  EXPECT_EQ(cycles_of_lines("cortex-m4", Isa::kThumb,
                            {{"ldr", "r0, [r1]"}, {"ldr.w", "r2, [r3, #4]"}, {"ldrb", "r4, [r5], #1"}}),
            4);
  // The second one's address is what the first loads.
  EXPECT_EQ(cycles_of_lines("cortex-m4", Isa::kThumb, {{"ldr", "r1, [r1]"}, {"ldr", "r2, [r1, #4]"}}), 4);
  EXPECT_EQ(cycles_of_lines("cortex-m4", Isa::kThumb, {{"ldr", "r1, [r0]"}, {"ldr", "r2, [r10, #4]"}}), 3);
  EXPECT_EQ(cycles_of_lines("cortex-m0", Isa::kThumb, {{"ldr", "r0, [r1]"}, {"ldr", "r2, [r3]"}, {"str", "r2, [r3]"}}),
            6);
}

TEST(Timing, ManyRegisters) {
  EXPECT_EQ(parse_instruction(Isa::kThumb, 0, 2, "push", "{r0, r4-r6, pc}").reads.size(), 5u);
  EXPECT_EQ(parse_instruction(Isa::kThumb, 0, 4, "vpop", "{s16-s31}").writes.size(), 16u);
  EXPECT_EQ(parse_instruction(Isa::kThumb, 0, 2, "pop", "").writes.size(), 0u);
  EXPECT_EQ(cycles_of_lines("cortex-m4", Isa::kThumb, {{"ldmia.w", "r0!, {r3, r4, r5}"}, {"push", "{r4-r7, lr}"}}),
            4 + 6);
  EXPECT_EQ(cycles_of_lines("cortex-m4", Isa::kThumb, {{"ldrd", "r0, r1, [r2], #8"}, {"strd", "r0, r1, [r2]"}}), 6);
}

TEST(Timing, Products) {
  const std::vector<std::pair<const char*, const char*>> sum = {{"mla", "r0, r1, r2, r3"}, {"smull", "r0, r1, r2, r3"}};
  EXPECT_EQ(cycles_of_lines("cortex-m3", Isa::kThumb, sum), 2 + 4);
  EXPECT_EQ(cycles_of_lines("cortex-m4", Isa::kThumb, sum), 2);
  EXPECT_EQ(cycles_of_lines("cortex-m4", Isa::kThumb, {{"smlad", "r0, r1, r2, r0"}, {"smmlar", "r0, r1, r2, r3"}}), 2);
  EXPECT_EQ(cycles_of_lines("cortex-m4", Isa::kThumb, {{"vfma.f32", "s0, s1, s2"}, {"vadd.f32", "s3, s0, s4"}}),
            3 + 1 + 1);
}

TEST(Timing, Branches) {
  for (const char* name : {"b", "bne", "ble.n", "cbz"}) {
    EXPECT_EQ(cycles_of_lines("cortex-m4", Isa::kThumb, {{name, "8010"}}), 1) << name;
    EXPECT_EQ(cycles_of_lines("cortex-m4", Isa::kThumb, {{name, "8010"}}, true), 3) << name;
  }
  EXPECT_EQ(cycles_of_lines("cortex-m4", Isa::kThumb, {{"bic", "r0, r1, r2"}}, true), 1);
  EXPECT_EQ(cycles_of_lines("cortex-m0", Isa::kThumb, {{"bl", "8010"}}, true), 4);
  EXPECT_EQ(cycles_of_lines("cortex-m0plus", Isa::kThumb, {{"bl", "8010"}}, true), 3);
  EXPECT_EQ(cycles_of_lines("cortex-m4", Isa::kThumb, {{"pop", "{r4, pc}"}}, true), 3 + 3);
  EXPECT_EQ(cycles_of_lines("cortex-m55", Isa::kThumb, {{"le", "lr, 8010"}}, true), 0);
  EXPECT_EQ(cycles_of_lines("rv32imac", Isa::kRiscv, {{"bne", "a0,a1,80000010"}}, true), 3);
}

TEST(Timing, VectorsOfDifferentUnitsOverlap) {
  EXPECT_EQ(cycles_of_lines("cortex-m55", Isa::kThumb, {{"vldrb.u8", "q0, [r0], #16"}, {"vmladava.s8", "r2, q0, q1"}}),
            1 + 2);
  EXPECT_EQ(cycles_of_lines("cortex-m55", Isa::kThumb, {{"vadd.i32", "q0, q0, q1"}, {"vshl.i32", "q0, q0, #2"}}), 4);
  EXPECT_EQ(cycles_of_lines("cortex-m52", Isa::kThumb, {{"vadd.i32", "q0, q0, q1"}, {"vshl.i32", "q0, q0, #2"}}), 8);
}

TEST(Timing, HasASource) {
  for (const std::string& cpu : cores::timed_cpus()) {
    ASSERT_NE(cores::timing_of(cpu), nullptr) << cpu;
    EXPECT_NE(std::string(cores::timing_of(cpu)->source), "") << cpu;
  }
  EXPECT_EQ(cores::timing_of("atmega328p"), nullptr);
  EXPECT_EQ(cores::timing_of("pdp-11"), nullptr);
}

TEST(Counts, AreReadOnlyWhole) {
  const auto counts = parse_counts("self\n100 2 1\ncall 200\n200 a 0\n202 a a\nself\n102 1 0\nend\n");
  ASSERT_TRUE(counts.has_value());
  ASSERT_EQ(counts->size(), 3u);
  EXPECT_EQ((*counts)[1].callee, 0x200u);
  EXPECT_EQ((*counts)[1].counts.at(0x202).taken, 10u);
  for (const char* text : {"", "100 2 1\n", "100 2\nend\n", "call x\nend\n", "100000000 1 1\nend\n", "zz\nend\n"})
    EXPECT_FALSE(parse_counts(text).has_value()) << text;
}

}  // namespace
}  // namespace aotc::machine
