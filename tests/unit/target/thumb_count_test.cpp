// SPDX-License-Identifier: Apache-2.0
// Counting a kernel's instructions, on texts that are counted by hand.
#include "target/arm/thumb_count.h"

#include <gtest/gtest.h>

#include "target/cpu.h"

namespace aotc::target::arm {
namespace {

constexpr const char* kDsp = "defined(__ARM_FEATURE_DSP)";

std::optional<int64_t> count(std::vector<std::string> lines, const std::vector<CountArgument>& arguments) {
  Implementation made;
  made.condition = kDsp;
  made.lines = std::move(lines);
  return count_instructions(made, arguments);
}

TEST(ThumbCount, LoopsOverANumber) {
  const std::vector<std::string> text = {"1:", "ldr r3,[r0],#4", "str r3,[r1],#4", "subs r2,r2,#1", "bne 1b"};
  EXPECT_EQ(count(text, {{.pointer = true}, {.pointer = true}, {.value = 5}}), 20);
}

TEST(ThumbCount, CyclesOfALoop) {
  Implementation made;
  made.lines = {"1:", "ldr r3,[r0],#4", "ldr r4,[r0],#4", "str r3,[r1],#4", "subs r2,r2,#1", "bne 1b"};
  const std::vector<CountArgument> arguments = {{.pointer = true}, {.pointer = true}, {.value = 5}};
  // The branch is taken four times of five.
  EXPECT_EQ(count_cycles(made, arguments, *timing_of("cortex-m4")), 5 * (2 + 1 + 1 + 1 + 1) + 4 * 2);
  EXPECT_EQ(count_cycles(made, {{.pointer = true}}, *timing_of("cortex-m4")), std::nullopt);
}

TEST(ThumbCount, RepeatedTextAndAPointerThatEnds) {
  const std::vector<std::string> text = {"add r2,r0,r1,lsl #2", "1:",    ".rept 3", "ldrsb r3,[r0],#4", ".endr",
                                         "cmp r0,r2",           "bne 1b"};
  EXPECT_EQ(count(text, {{.pointer = true}, {.value = 6}}), 1 + 2 * 5);
}

TEST(ThumbCount, BranchesThatDataDecidesCountAsANoteSays) {
  const std::vector<std::string> text = {
      "1:", "ldrsh r3,[r0,r1,lsl #1]", "asrs r1,r3,#4", "@ taken at most 2 times", "bpl 1b", "subs r2,r2,#1", "bne 1b"};
  EXPECT_EQ(count(text, {{.pointer = true}, {}, {.value = 5}}), 5 * (3 * 3 + 2));
  std::vector<std::string> without = text;
  without.erase(without.begin() + 3);
  EXPECT_EQ(count(without, {{.pointer = true}, {}, {.value = 5}}), std::nullopt);
}

TEST(ThumbCount, WhatIsPushedIsLoadedAgain) {
  EXPECT_EQ(count({"push {r4-r11, lr}", "mov r4,#3", "push {r4, r5}", "ldr r6,[sp]", "1:", "subs r6,r6,#1", "bne 1b",
                   "ldmia sp,{r7, r8}", "ldmia sp,{r8, r9}", "2:", "subs r8,r8,#1", "bne 2b", "add sp,sp,#8",
                   "pop {r4-r11, lr}"},
                  {}),
            4 + 3 * 2 + 2 + 3 * 2 + 2);
}

TEST(ThumbCount, RepeatsInRepeats) {
  EXPECT_EQ(
      count({".rept 2", "mov r0,#0", ".rept 3", "mov r1,#0", "mov r2,#0", ".endr", "mov r0,#1", ".endr", "mov r3,#0"},
            {}),
      2 * (1 + 6 + 1) + 1);
}

TEST(ThumbCount, TheEntryOfABodyIsInATable) {
  // The second word is where the body is entered, in bytes, with bit 0 set.
  const uint8_t table[] = {2, 0, 0, 0, 5, 0, 0, 0};
  const std::vector<std::string> text = {"sub sp,sp,#8",    "ldrd r1,r2,[r0, #0]", "adr.w r3,2f", "add r2,r2,r3",
                                         "str r2,[sp, #4]", "ldr pc,[sp, #4]",     "2:",          "mov r4,#0",
                                         "mov r5,#0",       "subs r1,r1,#1",       "bne 2b"};
  EXPECT_EQ(count(text, {{.pointer = true, .table = table}}), 6 + 3 + 4);
}

TEST(ThumbCount, LoopsOverVectors) {
  const std::vector<std::string> bytes = {"dlstp.8 lr,r2", "1:", "vldrb.u8 q0,[r0],#16", "vstrb.8 q0,[r1],#16",
                                          "letp lr,1b"};
  EXPECT_EQ(count(bytes, {{.pointer = true}, {.pointer = true}, {.value = 33}}), 1 + 3 * 3);
  const std::vector<std::string> none = {"wls lr,r1,2f", "1:", "vldrb.u8 q0,[r0],#16", "le lr,1b", "2:", "mov r0,#0"};
  EXPECT_EQ(count(none, {{.pointer = true}, {.value = 0}}), 2);
  EXPECT_EQ(count(none, {{.pointer = true}, {.value = 4}}), 1 + 4 * 2 + 1);
}

TEST(ThumbCount, WhatDataDecidesIsNotCounted) {
  EXPECT_EQ(count({"ldr r1,[r0]", "cmp r1,#0", "beq 1f", "1:"}, {{.pointer = true}}), std::nullopt);
  EXPECT_EQ(count({"1:", "b 1b"}, {}), std::nullopt);
  EXPECT_EQ(count({"dls lr,r0", "1:", "le lr,1b"}, {{.pointer = true}}), std::nullopt);
}

}  // namespace
}  // namespace aotc::target::arm
