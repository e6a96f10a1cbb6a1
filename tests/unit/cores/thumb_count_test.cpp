// SPDX-License-Identifier: Apache-2.0
// Counting a kernel's instructions, on texts that are counted by hand.
#include "cores/arm/thumb_count.h"

#include <gtest/gtest.h>

#include "cores/cpu.h"

namespace aotc::cores::arm {
namespace {

constexpr const char* kDsp = "defined(__ARM_FEATURE_DSP)";

std::optional<int64_t> count(std::vector<std::string> lines, const std::vector<CountArgument>& arguments) {
  Implementation made;
  made.condition = kDsp;
  made.lines = std::move(lines);
  const std::optional<int64_t> out = count_instructions(made, arguments);
  EXPECT_EQ(out, count_every_step(made, arguments));
  return out;
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

TEST(ThumbCount, LongLoopsAreNotSteppedThrough) {
  // Three nested loops of 2,000 iterations each: 8 * 10^9 iterations.
  Implementation made;
  made.lines = {"mov r4,r2",     "1:",     "mov r5,r2",     "2:",     "mov r6,r2",     "3:",    "ldr r7,[r0],#4",
                "subs r6,r6,#1", "bne 3b", "subs r5,r5,#1", "bne 2b", "subs r4,r4,#1", "bne 1b"};
  const int64_t n = 2000;
  const std::vector<CountArgument> arguments = {{.pointer = true}, {}, {.value = n}};
  EXPECT_EQ(count_instructions(made, arguments), 1 + n * (3 + n * (3 + n * 3)));
  EXPECT_EQ(count_cycles(made, arguments, *timing_of("cortex-m4")), 1 + n * (1 + n * (1 + n * 6 - 2 + 4) - 2 + 4) - 2);
}

TEST(ThumbCount, LoopsThatChangeAreSteppedThrough) {
  const std::vector<CountArgument> arguments = {{.pointer = true}, {.value = 3}, {.value = 60}};
  // The inner loop is one iteration shorter each time.
  EXPECT_EQ(count({"1:", "mov r3,r2", "2:", "subs r3,r3,#1", "bne 2b", "subs r2,r2,#1", "bne 1b"}, arguments),
            60 * 3 + 2 * (60 * 61 / 2));
  // The lowest bit of the counter decides.
  EXPECT_EQ(
      count({"1:", "and r3,r2,#1", "cmp r3,#0", "beq 2f", "mov r4,#0", "2:", "subs r2,r2,#1", "bne 1b"}, arguments),
      60 * 5 + 30);
  // A branch inside of the loop that is taken from the middle on.
  EXPECT_EQ(count({"1:", "cmp r2,#30", "bgt 2f", "mov r4,#0", "2:", "subs r2,r2,#1", "bne 1b"}, arguments),
            60 * 4 + 30);
  // A value on the stack ends it.
  EXPECT_EQ(count({"push {r2}", "1:", "ldr r3,[sp]", "subs r3,r3,#4", "str r3,[sp]", "bpl 1b"}, arguments), 1 + 16 * 4);
  // Steps of 7 that pass the end, and meet 0 never.
  EXPECT_EQ(count({"1:", "sub r2,r2,#7", "cmp r2,#0", "bgt 1b"}, arguments), 9 * 3);
}

TEST(ThumbCount, ConditionsWithoutASign) {
  const std::vector<CountArgument> arguments = {{.pointer = true}, {.value = 5}};
  // A pointer below another one into the same table.
  EXPECT_EQ(count({"add r2,r0,#40", "1:", "ldr r3,[r0],#4", "cmp r0,r2", "blo 1b"}, arguments), 1 + 10 * 3);
  EXPECT_EQ(count({"1:", "sub r1,r1,#2", "cmp r1,#1", "bhi 1b"}, arguments), 2 * 3);
  EXPECT_EQ(count({"1:", "sub r1,r1,#2", "cmp r1,#1", "bhs 1b", "mov r2,#0"}, arguments), std::nullopt);
  EXPECT_EQ(count({"sub r1,r1,#2", "cmp r1,#3", "bls 2f", "mov r2,#0", "2:"}, arguments), 3);
  EXPECT_EQ(count({"sub r1,r1,#2", "cmp r1,#2", "bls 2f", "mov r2,#0", "2:"}, arguments), 4);
}

TEST(ThumbCount, LoopsWhoseTableSaysOtherThingsLater) {
  uint8_t table[400] = {};
  for (size_t i = 0; i < 100; ++i) table[4 * i] = i < 70 ? 1 : 3;
  // Each word is how many iterations the inner loop has.
  EXPECT_EQ(count({"1:", "ldr r3,[r0],#4", "2:", "subs r3,r3,#1", "bne 2b", "subs r2,r2,#1", "bne 1b"},
                  {{.pointer = true, .table = table}, {}, {.value = 100}}),
            100 * 3 + 2 * (70 + 30 * 3));
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
}  // namespace aotc::cores::arm
