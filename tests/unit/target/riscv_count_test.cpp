// SPDX-License-Identifier: Apache-2.0
// Instructions of kernels in RISC-V's assembly, counted by hand.
#include "target/riscv/text_count.h"

#include <cstring>

#include <gtest/gtest.h>

namespace aotc::target::riscv {
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
}  // namespace aotc::target::riscv
