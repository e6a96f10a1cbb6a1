// SPDX-License-Identifier: Apache-2.0
// The tree of a program as numbered slices: every way through the tree is a way through the
// numbers.
#include "codegen/c_slices.h"

#include <gtest/gtest.h>

namespace aotc::codegen {
namespace {

using plan::ProgramStep;
using Steps = std::vector<ProgramStep>;

ProgramStep call(int index) {
  ProgramStep s;
  s.call = index;
  return s;
}

ProgramStep with_blocks(ProgramStep::Kind kind, Steps first, Steps second) {
  ProgramStep s;
  s.kind = kind;
  s.blocks = {std::move(first), std::move(second)};
  return s;
}

ProgramStep branch(Steps then, Steps otherwise) {
  return with_blocks(ProgramStep::Kind::kBranch, std::move(then), std::move(otherwise));
}

ProgramStep loop(Steps condition, Steps body) {
  return with_blocks(ProgramStep::Kind::kLoop, std::move(condition), std::move(body));
}

// The calls that a run makes: `answers` is what decisions find, in their order, then false.
std::string calls_of(const Steps& steps, std::vector<bool> answers) {
  const std::vector<Slice> slices = lay_out_slices(steps);
  std::string out;
  size_t answer = 0;
  for (int at = 1, turns = 0; at <= static_cast<int>(slices.size()) && turns < 100; ++turns) {
    const Slice& s = slices[static_cast<size_t>(at) - 1];
    if (!s.decides()) out += std::to_string(s.call);
    at = s.decides() && !(answer < answers.size() && answers[answer++]) ? s.otherwise : s.next;
  }
  return out;
}

TEST(RunSlices, CallsFollowEachOther) {
  EXPECT_EQ(calls_of({call(0), call(1), call(2)}, {}), "012");
  EXPECT_EQ(lay_out_slices({}).size(), 0u);
}

TEST(RunSlices, RepeatsAreLoopsWhereTheyArePrinted) {
  ProgramStep repeat;
  repeat.kind = ProgramStep::Kind::kRepeat;
  repeat.blocks = {{call(1), call(2)}, {call(3), call(4)}, {call(5), call(6)}};
  const Steps steps = {call(0), repeat, call(7)};
  EXPECT_EQ(calls_of(steps, {}), "01234567");
  const std::vector<Slice> slices = lay_out_slices(steps, true);
  ASSERT_EQ(slices.size(), 4u);
  EXPECT_EQ(slices[1].call, 1);
  EXPECT_EQ(slices[2].call, 2);
  EXPECT_EQ(slices[2].number, 1u);
  // Behind the second call the next turn begins, or what follows.
  EXPECT_EQ(slices[1].again, 0);
  EXPECT_EQ(slices[2].again, 2);
  EXPECT_EQ(slices[2].next, 4);
  EXPECT_EQ(slices[3].call, 7);
}

TEST(RunSlices, BranchesMeetAgain) {
  const Steps steps = {call(0), branch({call(1), call(2)}, {call(3)}), call(4)};
  EXPECT_EQ(calls_of(steps, {true}), "0124");
  EXPECT_EQ(calls_of(steps, {false}), "034");
  EXPECT_EQ(calls_of({branch({}, {call(1)}), call(2)}, {true}), "2");
  EXPECT_EQ(calls_of({branch({}, {call(1)}), call(2)}, {false}), "12");
  EXPECT_EQ(calls_of({branch({call(1)}, {}), call(2)}, {true}), "12");
  EXPECT_EQ(calls_of({branch({call(1)}, {}), call(2)}, {false}), "2");
  EXPECT_EQ(calls_of({branch({}, {})}, {true}), "");
}

TEST(RunSlices, LoopsComeBack) {
  const Steps steps = {call(0), loop({call(1)}, {call(2)}), call(3)};
  EXPECT_EQ(calls_of(steps, {}), "013");
  EXPECT_EQ(calls_of(steps, {true, true}), "0121213");
  EXPECT_EQ(calls_of({loop({call(1)}, {})}, {true, true}), "111");
  EXPECT_EQ(calls_of({loop({}, {call(1)})}, {true, true}), "11");
}

TEST(RunSlices, BranchesAndLoopsNest) {
  const Steps inner = {branch({loop({call(1)}, {call(2)})}, {branch({call(3)}, {})})};
  const Steps steps = {loop({call(0)}, inner), call(4)};
  EXPECT_EQ(calls_of(steps, {true, true, true, false, false}), "012104");
  EXPECT_EQ(calls_of(steps, {true, false, true, true, false, false, false}), "03004");
  // The last of a branch is a loop, whose end leads behind the branch.
  EXPECT_EQ(calls_of({branch({loop({}, {call(0)})}, {call(1)}), call(2)}, {true, true, false}), "02");
}

}  // namespace
}  // namespace aotc::codegen
