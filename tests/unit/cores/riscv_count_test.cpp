// SPDX-License-Identifier: Apache-2.0
// Instructions of kernels in RISC-V's assembly, counted by hand.
#include "cores/riscv/text_count.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace aotc::cores::riscv {
namespace {

Implementation text(std::vector<std::string> lines) {
  Implementation out;
  out.lines = std::move(lines);
  out.arguments = {"a0", "a1"};
  return out;
}

std::vector<CountArgument> table_of(const std::vector<uint8_t>& bytes) {
  CountArgument pointer{.pointer = true}, table{.pointer = true};
  table.table = bytes;
  return {pointer, table};
}

TEST(RiscvCount, LoopsEndWhereATableSays) {
  // The word 24 is the distance at which the first pointer has run far enough: three turns of four instructions.
  const std::vector<uint8_t> bytes = {0, 0, 0, 0, 24, 0, 0, 0};
  const Implementation made =
      text({"lw a4,4(a1)", "add a4,a4,a0", "1:", "lw a5,0(a0)", "sw a5,4(sp)", "addi a0,a0,8", "bne a0,a4,1b"});
  EXPECT_EQ(count_instructions(made, table_of(bytes)), 2 + 3 * 4);
}

TEST(RiscvCount, LongLoopsAreNotSteppedThrough) {
  const Implementation nested = text({"li a2,3000", "1:", "li a3,30000", "2:", "lw a5,0(a0)", "addi a0,a0,4",
                                      "addi a3,a3,-3", "bnez a3,2b", "addi a2,a2,-1", "bge a2,zero,1b"});
  EXPECT_EQ(count_instructions(nested, table_of({})), 1 + 3001 * (3 + 10000 * 4));
  const Implementation shrinking =
      text({"li a2,50", "1:", "mv a3,a2", "2:", "addi a3,a3,-1", "bnez a3,2b", "addi a2,a2,-1", "bnez a2,1b"});
  EXPECT_EQ(count_instructions(shrinking, table_of({})), 1 + 50 * 3 + 2 * (50 * 51 / 2));
  EXPECT_EQ(count_every_step(shrinking, table_of({})), 1 + 50 * 3 + 2 * (50 * 51 / 2));
}

TEST(RiscvCount, WordsOfLongTablesAreLookedUpOnlyWhereTheyDecide) {
  // 1,000 words, which a loop only adds up: the count needs none of them.
  std::vector<uint8_t> bytes(4000, 1);
  const std::vector<std::string> sums = {"li a3,1000",    "1:",        "lw a5,0(a1)", "add a4,a4,a5", "addi a1,a1,4",
                                         "addi a3,a3,-1", "bnez a3,1b"};
  EXPECT_EQ(count_instructions(text(sums), table_of(bytes)), 1 + 1000 * 5);
  EXPECT_EQ(count_every_step(text(sums), table_of(bytes)), 1 + 1000 * 5);
  // The first word of ten that is 0 ends the loop, and a sum with it skips an instruction.
  std::fill(bytes.begin() + 36, bytes.begin() + 40, uint8_t{0});
  const Implementation ends = text({"1:", "lw a5,0(a1)", "addi a1,a1,4", "bnez a5,1b"});
  EXPECT_EQ(count_instructions(ends, table_of(bytes)), 10 * 3);
  const Implementation skips =
      text({"lw a5,36(a1)", "addi a5,a5,2", "beq a5,a2,2f", "bge a5,zero,3f", "li a3,1", "3:", "li a3,2", "2:"});
  EXPECT_EQ(count_instructions(skips, table_of(bytes)), 5);
  EXPECT_EQ(count_every_step(skips, table_of(bytes)), 5);
}

TEST(RiscvCount, MacrosAreWrittenOut) {
  const Implementation made = text({".macro twice m,x", "\\\\m \\\\x,1", "\\\\m \\\\x,2+1", ".endm", ".macro more a,n",
                                    "addi \\\\a,\\\\a,\\\\n", ".endm", "li a4,8", "2:", "twice more,a2",
                                    "addi a4,a4,-4", "bnez a4,2b", ".purgem twice"});
  EXPECT_EQ(count_instructions(made, table_of({})), 1 + 2 * 4);
}

TEST(RiscvCount, WhatDataDecidesTakesTheLongerWay) {
  const Implementation made = text({"lb a4,0(a0)", "bge a4,a5,8f", "mv a4,a5", "8:", "sb a4,0(a0)"});
  const std::optional<int64_t> all = count_instructions(made, table_of({}));
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, 4);
  EXPECT_FALSE(count_instructions(text({"1:", "lw a4,0(a0)", "bne a4,a5,1b"}), table_of({})));
}

TEST(RiscvCount, CyclesAddWhatBranchesRefill) {
  machine::Timing timing;
  timing.load = timing.next_load = 2;
  timing.refill = 2;
  const Implementation made = text({"li a4,3", "1:", "addi a4,a4,-1", "bnez a4,1b", "lw a5,0(a0)"});
  // One for li, two each turn, two more for each of the two branches that are taken, two for the load.
  EXPECT_EQ(count_cycles(made, table_of({}), timing), 1 + 3 * 2 + 2 * 2 + 2);
}

}  // namespace
}  // namespace aotc::cores::riscv
