// SPDX-License-Identifier: Apache-2.0
// Repeats in lists: what is found, what is left, and that what gains nothing stays.
#include "support/repeats.h"

#include <gtest/gtest.h>

namespace aotc {
namespace {

int64_t turns_behind_the_first(const Repeat& r) { return static_cast<int64_t>((r.count - 1) * r.period); }

// "begin:period x count" of each.
std::string found(const std::vector<int>& list, size_t least = 3, const RepeatGain& gain = turns_behind_the_first) {
  std::string out;
  for (const Repeat& r : find_repeats(list, least, gain))
    out += (out.empty() ? "" : " ") + std::to_string(r.begin) + ":" + std::to_string(r.period) + "x" +
           std::to_string(r.count);
  return out;
}

TEST(Repeats, BodiesAreFoundWithWhatStandsAround) {
  EXPECT_EQ(found({}), "");
  EXPECT_EQ(found({1}), "");
  EXPECT_EQ(found({1, 1, 1}), "0:1x3");
  EXPECT_EQ(found({9, 1, 2, 1, 2, 1, 2, 8}), "1:2x3");
  EXPECT_EQ(found({1, 2, 1, 2}), "");
  EXPECT_EQ(found({1, 2, 1, 2}, 2), "0:2x2");
  // Half a turn more is not part of it.
  EXPECT_EQ(found({1, 2, 3, 1, 2, 3, 1, 2, 3, 1}), "0:3x3");
}

TEST(Repeats, TheOneThatGainsMostIsTakenAndOthersBesideIt) {
  EXPECT_EQ(found({5, 5, 5, 1, 2, 3, 1, 2, 3, 1, 2, 3, 6, 6, 6, 6}), "0:1x3 3:3x3 12:1x4");
  // Four times two is as much as twice four, which are too few.
  EXPECT_EQ(found({1, 2, 1, 2, 1, 2, 1, 2}), "0:2x4");
  // Of a body with a repeat inside, the body.
  EXPECT_EQ(found({1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2}), "0:4x3");
}

TEST(Repeats, WhatGainsNothingStays) {
  EXPECT_EQ(found({1, 1, 1, 1}, 3, [](const Repeat&) { return int64_t{0}; }), "");
  EXPECT_EQ(
      found({1, 1, 1, 2, 3, 2, 3, 2, 3}, 3, [](const Repeat& r) { return r.period > 1 ? int64_t{1} : int64_t{-1}; }),
      "3:2x3");
}

TEST(Repeats, LongListsEnd) {
  std::vector<int> list;
  for (int i = 0; i < 60000; ++i) list.push_back(i % 7 == 0 ? i : 1);
  EXPECT_FALSE(found(list).empty());
}

}  // namespace
}  // namespace aotc
