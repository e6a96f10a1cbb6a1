// SPDX-License-Identifier: Apache-2.0
// Turns of what a kernel does at once (ops/lowering.h): all units are taken once, groups stay whole, and a loop has
// two turns at least.
#include <gtest/gtest.h>

#include "ops/lowering.h"

namespace aotc::ops {
namespace {

TargetInfo in_parts_of(int64_t instructions) {
  TargetInfo target;
  target.slice = instructions;
  return target;
}

TEST(Turns, AreOneWhereCallsAreNotDividedOrShortEnough) {
  for (int64_t slice : {0, 10000}) {
    const Turns turns = turns_of(75, 100, in_parts_of(slice));
    EXPECT_EQ(turns.size, 75);
    EXPECT_EQ(turns.whole, 1);
    EXPECT_EQ(turns.rest, 0);
  }
  EXPECT_EQ(turns_of(1, 100, in_parts_of(10)).whole, 1) << "one unit cannot be divided";
  EXPECT_EQ(turns_of(7, 100, in_parts_of(10), 4).whole, 1) << "nor can one group and a rest";
}

TEST(Turns, TakeEveryUnitOnceInWholeGroups) {
  for (int64_t units = 1; units < 70; ++units)
    for (int64_t group : {1, 4, 16})
      for (int64_t slice : {1, 30, 100, 1000, 4000}) {
        const Turns turns = turns_of(units, 10, in_parts_of(slice), group);
        ASSERT_EQ(turns.size * turns.whole + turns.rest, units);
        if (turns.whole == 1) {
          ASSERT_EQ(turns.rest, 0) << "a rest stands behind a loop";
          continue;
        }
        ASSERT_EQ(turns.size % group, 0);
        ASSERT_LT(turns.rest, turns.size + group);
        if (turns.size > group) {
          ASSERT_LE(turns.size * 10, slice / 4) << units << " " << group << " " << slice;
        }
      }
}

}  // namespace
}  // namespace aotc::ops
