// SPDX-License-Identifier: Apache-2.0
// How far a result may lie over its operand, against every pair of a byte that is written and one
// that is read in the same step or later.
#include "plan/overlap.h"

#include <gtest/gtest.h>

#include "packing_oracle.h"

namespace aotc::plan {
namespace {

// Whether nothing that is still to be read is written, with every byte written below it (or above).
bool safe(const ops::WriteOrder& order, int64_t delta, bool below) {
  for (size_t i = 0; i < order.steps.size(); ++i)
    for (size_t j = i; j < order.steps.size(); ++j)
      for (int64_t w = order.steps[i].write_begin; w < order.steps[i].write_end; ++w)
        for (int64_t r = order.steps[j].read_begin; r < order.steps[j].read_end; ++r)
          if (below ? w + delta >= r : w + delta <= r) return false;
  return true;
}

TEST(Overlap, LimitsAreTheFarthestThatAreSafe) {
  TestRandom random(13);
  for (int round = 0; round < 300; ++round) {
    const int64_t in = random.range(1, 12), out = random.range(1, 12);
    ops::WriteOrder order;
    for (int64_t steps = random.range(1, 5); steps > 0; --steps) {
      ops::WriteOrder::Step s;
      s.read_begin = random.range(0, in);
      s.read_end = random.range(s.read_begin, in);
      s.write_begin = random.range(0, out);
      s.write_end = random.range(s.write_begin, out);
      order.steps.push_back(s);
    }
    int64_t forward = in, backward = -out;
    while (!safe(order, forward, true)) --forward;
    while (!safe(order, backward, false)) ++backward;
    const OverlapLimits limits = overlap_limits(order, in, out);
    ASSERT_EQ(limits.forward, forward) << "round " << round;
    ASSERT_EQ(limits.backward, backward) << "round " << round;
  }
}

TEST(Overlap, WithoutAnOrderThereIsNone) {
  const OverlapLimits limits = overlap_limits({}, 12, 7);
  EXPECT_EQ(limits.forward, -7);
  EXPECT_EQ(limits.backward, 12);
}

}  // namespace
}  // namespace aotc::plan
