// SPDX-License-Identifier: Apache-2.0
#include "plan/packing.h"

#include <gtest/gtest.h>

#include <numeric>

#include "packing_oracle.h"

namespace aotc::plan {
namespace {

PackingOptions search_only() {
  PackingOptions options;
  options.max_local_visits = 0;
  options.max_nodes = 200'000;
  return options;
}

void expect_optimal(const Problem& problem, int64_t height, const PackingOptions& options = {}) {
  const Solution solution = solve(problem, options);
  EXPECT_EQ(check(problem, solution), "");
  EXPECT_EQ(solution.height, height);
  EXPECT_EQ(solution.lower_bound, height);
  EXPECT_TRUE(solution.proven_optimal);
}

TEST(Packing, EmptyProblem) { expect_optimal(Problem{}, 0); }

TEST(Packing, ItemsWithoutSeparationsShareTheArena) {
  Problem problem;
  problem.add(10);
  problem.add(30);
  problem.add(0);
  expect_optimal(problem, 30);
}

TEST(Packing, ItemsOfNoBytesNeedNone) {
  Problem problem;
  for (int i = 0; i < 3; ++i) problem.add(0);
  problem.separate(0, 1);
  expect_optimal(problem, 0);
}

TEST(Packing, SeparatedItemsStack) {
  Problem problem;
  for (int64_t size : {10, 30, 5}) problem.add(size);
  problem.separate(0, 1);
  problem.separate(1, 2);
  expect_optimal(problem, 40);
  problem.separate(0, 2);
  expect_optimal(problem, 45);
}

TEST(Packing, AlignmentCountsInTheBound) {
  Problem problem;
  problem.add(5, 16);
  problem.add(7, 16);
  problem.add(9, 16);
  problem.separate(0, 1);
  problem.separate(1, 2);
  problem.separate(0, 2);
  expect_optimal(problem, 32 + 5);  // the smallest on top
}

TEST(Packing, MixedAlignments) {
  Problem problem;
  problem.add(3, 1);
  problem.add(4, 8);
  problem.separate(0, 1);
  expect_optimal(problem, 7);  // the aligned one at 0
}

TEST(Packing, FixedOffsetsAreKept) {
  Problem problem;
  const int32_t low = problem.add(8, 4, "low"), high = problem.add(8, 4, "high");
  const int32_t small = problem.add(4), large = problem.add(12);
  problem.items[static_cast<size_t>(low)].fixed = 4;
  problem.items[static_cast<size_t>(high)].fixed = 20;
  for (int32_t k : {small, large}) {
    problem.separate(low, k);
    problem.separate(high, k);
  }
  problem.separate(small, large);
  const Solution solution = solve(problem);
  EXPECT_EQ(check(problem, solution), "");
  EXPECT_EQ(solution.offsets[static_cast<size_t>(small)], 0);
  EXPECT_EQ(solution.offsets[static_cast<size_t>(large)], 28);  // 12..20 is too narrow
  EXPECT_EQ(solution.height, 40);
  EXPECT_TRUE(solution.proven_optimal);
}

TEST(Packing, FixedOffsetAloneMakesTheHeight) {
  Problem problem;
  problem.items.push_back({8, 8, 1024, "dma"});
  expect_optimal(problem, 1032);
}

TEST(Packing, ContradictoryFixedOffsetsAreReported) {
  Problem problem;
  problem.items.push_back({8, 1, 0, "input"});
  problem.items.push_back({8, 1, 4, "output"});
  problem.separate(0, 1);
  const Solution solution = solve(problem);
  EXPECT_EQ(solution.error,
            "arena packing: item 0 'input' and item 1 'output': fixed offsets 0 and 4 are too close "
            "to each other; free or move one of them [packing-fixed]");
  EXPECT_FALSE(solution.proven_optimal);
  EXPECT_NE(check(problem, solution), "");
  problem.separations[0].d_ij = 4;  // an overlap of four bytes is allowed
  expect_optimal(problem, 12);
}

TEST(Packing, MisalignedFixedOffsetIsReported) {
  Problem problem;
  problem.items.push_back({8, 16, 8, "x"});
  EXPECT_EQ(solve(problem).error,
            "arena packing: item 0 'x': fixed offset 8 is not a multiple of its alignment 16; move "
            "it or lower the alignment [packing-fixed]");
}

TEST(Packing, MalformedProblemsAreReported) {
  const auto error_of = [](auto edit) {
    Problem problem;
    problem.add(8);
    problem.add(8);
    problem.separate(0, 1);
    edit(problem);
    return solve(problem).error;
  };
  EXPECT_EQ(error_of([](Problem&) {}), "");
  const auto reported = [&](auto edit, const char* what) {
    const std::string error = error_of(edit);
    EXPECT_NE(error.find(what), std::string::npos) << error;
    EXPECT_NE(error.find("[packing-problem]"), std::string::npos) << error;
  };
  reported([](Problem& p) { p.items[1].size = -1; }, "item 1: size -1");
  reported([](Problem& p) { p.items[1].size = INT64_MAX; }, "item 1: size");
  reported([](Problem& p) { p.items[0].alignment = 12; }, "alignment 12");
  reported([](Problem& p) { p.items[0].alignment = 0; }, "alignment 0");
  reported([](Problem& p) { p.items[0].fixed = -4; }, "fixed offset -4");
  reported([](Problem& p) { p.items[0].fixed = kMaxBytes + 1; }, "fixed offset 1099511627777");
  reported([](Problem& p) { p.separations[0].j = 2; }, "separation 0: items 0 and 2");
  reported([](Problem& p) { p.separations[0].j = 0; }, "separation 0: items 0 and 0");
  reported([](Problem& p) { p.separations[0].i = -1; }, "items -1 and 1");
  reported([](Problem& p) { p.separations[0].j = -1; }, "items 0 and -1");
  reported([](Problem& p) { p.separations[0].d_ji = INT64_MIN; }, "distance");
}

// The shape of visual wake words: the largest tensor is born after two that fit under it, and a
// planner that goes by size alone lays them where the next one no longer fits.
TEST(Packing, BySizeGreedyIsAThirdOffAndThePortfolioIsNot) {
  Problem problem;
  const std::vector<int64_t> sizes = {27648, 18432, 18432, 36864, 9216, 18432, 18432, 4608};
  for (size_t k = 0; k < sizes.size(); ++k) {
    problem.add(sizes[k], 16);
    if (k > 0) problem.separate(static_cast<int32_t>(k) - 1, static_cast<int32_t>(k));
  }
  std::vector<int32_t> by_size(sizes.size());
  std::iota(by_size.rbegin(), by_size.rend(), 0);  // of equals the later first
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](int32_t a, int32_t b) { return sizes[static_cast<size_t>(a)] > sizes[static_cast<size_t>(b)]; });
  EXPECT_EQ(greedy_height(problem, by_size), 73728);
  expect_optimal(problem, 55296);
}

// Items around a ring: no three are mutually separated, so the pair bound is all there is, and an
// odd ring needs more. Only an exhausted search may say "optimal".
TEST(Packing, OptimumAboveTheBoundIsProvenBySearch) {
  TestRandom random(7);
  int above = 0;
  for (int round = 0; round < 40; ++round) {
    Problem problem;
    constexpr int32_t kRing = 5;
    for (int32_t k = 0; k < kRing; ++k) problem.add(random.range(2, 4));
    for (int32_t k = 0; k < kRing; ++k) problem.separate(k, (k + 1) % kRing);
    const Solution solution = solve(problem);
    ASSERT_EQ(check(problem, solution), "");
    ASSERT_TRUE(solution.proven_optimal);
    ASSERT_EQ(exhaustive_height(problem, 20), solution.height);
    PackingOptions no_search;
    no_search.max_nodes = 0;
    no_search.max_local_visits = 1000;
    const Solution unsearched = solve(problem, no_search);
    ASSERT_EQ(check(problem, unsearched), "");
    if (unsearched.lower_bound == solution.height) continue;
    ++above;
    EXPECT_LT(unsearched.lower_bound, solution.height);
    EXPECT_FALSE(unsearched.proven_optimal);
  }
  EXPECT_GT(above, 5);
}

// A chain of operators, each of which may write its result `slack` bytes below its operand's start
// or above its operand's end.
Problem chain(const std::vector<int64_t>& sizes, int64_t slack) {
  Problem problem;
  for (size_t k = 0; k < sizes.size(); ++k) {
    const int32_t out = problem.add(sizes[k]);
    if (k == 0) continue;
    const int32_t in = out - 1;
    // off_in - off_out >= slack, or the result above the operand
    problem.separations.push_back({in, out, sizes[k - 1], slack});
  }
  return problem;
}

TEST(Packing, DiagonalOverlapChain) {
  // Without overlap the tensors alternate in 200 bytes; each result 8 bytes below its operand gives
  // the offsets 32, 24, 16, 8, 0.
  const std::vector<int64_t> sizes(5, 100);
  expect_optimal(chain(sizes, 8), 132);
  expect_optimal(chain(sizes, 0), 100);    // in place
  expect_optimal(chain(sizes, -50), 100);  // even above the operand's start
  expect_optimal(chain(sizes, 100), 200);  // no overlap
  expect_optimal(chain(sizes, 8), 132, search_only());
}

TEST(Packing, GrowingTensorsOverlapBackwards) {
  // A result of 160 over an operand of 80 written backwards: off_out - off_in >= -73.
  Problem problem;
  problem.add(80);
  problem.add(160);
  problem.separations.push_back({0, 1, -73, 160});
  expect_optimal(problem, 160);
  problem.separations[0].d_ij = 7;  // the result must start 7 above the operand
  expect_optimal(problem, 167);
}

TEST(Packing, CyclesOfNegativeDistancesAreSolved) {
  // 1 at least 3 above 0, 2 at most 5 below 1, 0 at least 1 above 2: a cycle that closes.
  Problem problem;
  for (int k = 0; k < 3; ++k) problem.add(10);
  problem.separations.push_back({0, 1, 3, 100});
  problem.separations.push_back({1, 2, -5, 100});
  problem.separations.push_back({2, 0, 1, 100});
  const auto height = exhaustive_height(problem, 60);
  ASSERT_TRUE(height.has_value());
  expect_optimal(problem, *height);
  expect_optimal(problem, *height, search_only());
}

// The searches of small sets for a bound count like others: a node looks at one item at least.
TEST(Packing, WorkOfEverySearchIsCounted) {
  TestRandom random(3);
  int by_bounds = 0;
  for (int round = 0; round < 300; ++round) {
    const Problem problem = wild_problem(random, 4, false);
    PackingOptions greedy = search_only();
    greedy.max_nodes = 0;
    const Solution without = solve(problem, greedy), with = solve(problem, search_only());
    ASSERT_EQ(without.ok(), with.ok());
    if (!with.ok()) continue;
    ASSERT_GE(with.work - without.work, with.nodes) << round;
    by_bounds += with.nodes > 0 && with.method < Method::kLocalSearch;
  }
  EXPECT_GT(by_bounds, 0);
}

class PackingAgainstExhaustion : public ::testing::TestWithParam<bool> {};

TEST_P(PackingAgainstExhaustion, WildProblems) {
  const bool positive = GetParam();
  TestRandom random(positive ? 11 : 12);
  int solved = 0, refused = 0, by_search = 0;
  for (int round = 0; round < 1500; ++round) {
    const Problem problem = wild_problem(random, 2 + round % 4, positive);
    const Solution solution = solve(problem);
    if (!solution.ok()) {
      EXPECT_NE(solution.error.find("[packing-fixed]"), std::string::npos) << solution.error;
      EXPECT_FALSE(exhaustive_height(problem, 24).has_value());
      ++refused;
      continue;
    }
    ASSERT_EQ(check(problem, solution), "") << "round " << round;
    ASSERT_TRUE(solution.proven_optimal) << "round " << round;
    ASSERT_EQ(exhaustive_height(problem, solution.height), solution.height) << "round " << round;
    ++solved;
    // The tree searches alone, from the greedy start.
    const Solution searched = solve(problem, search_only());
    ASSERT_EQ(check(problem, searched), "") << "round " << round;
    ASSERT_TRUE(searched.proven_optimal) << "round " << round;
    ASSERT_EQ(searched.height, solution.height) << "round " << round;
    by_search += searched.method >= Method::kCanonicalSearch;
  }
  EXPECT_GT(solved, 1000);
  EXPECT_GT(refused, 20);
  EXPECT_GT(by_search, 0);
}

INSTANTIATE_TEST_SUITE_P(All, PackingAgainstExhaustion, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "positive" : "any_sign"; });

// No order of a greedy placement may beat what is called optimal.
TEST(Packing, NoPermutationIsBetter) {
  TestRandom random(5);
  for (int round = 0; round < 60; ++round) {
    const Problem problem = lifetime_problem(random, 6, 5, 20);
    const Solution solution = solve(problem);
    ASSERT_EQ(check(problem, solution), "");
    ASSERT_TRUE(solution.proven_optimal);
    std::vector<int32_t> order(problem.items.size());
    std::iota(order.begin(), order.end(), 0);
    int64_t best = INT64_MAX;
    do best = std::min(best, greedy_height(problem, order));
    while (std::next_permutation(order.begin(), order.end()));
    ASSERT_EQ(solution.height, best) << "round " << round;
  }
}

// Both searches are complete on problems with positive distances: they must agree.
TEST(Packing, SearchesAgreeOnMediumProblems) {
  TestRandom random(21);
  int searched = 0;
  for (int round = 0; round < 60; ++round) {
    Problem problem;
    for (int32_t k = 0; k < 12; ++k) {
      problem.add(random.range(1, 30));
      for (int32_t other = 0; other < k; ++other) {
        if (random.one_in(2)) problem.separate(other, k);
      }
    }
    const Solution canonical = solve(problem, search_only());
    ASSERT_EQ(check(problem, canonical), "");
    ASSERT_TRUE(canonical.proven_optimal);
    searched += canonical.nodes > 0;
    // A vacuous-looking pair that is not: distances 0 and 4 to an item of no bytes switch the
    // canonical form off without changing the height.
    const int32_t mark = problem.add(0);
    problem.separations.push_back({mark, 0, 0, problem.items[0].size});
    const Solution disjunctive = solve(problem, search_only());
    ASSERT_EQ(check(problem, disjunctive), "");
    ASSERT_TRUE(disjunctive.proven_optimal) << "round " << round;
    ASSERT_EQ(disjunctive.height, canonical.height) << "round " << round;
  }
  EXPECT_GT(searched, 5);
}

TEST(Packing, SameProblemSameSolution) {
  TestRandom random(31);
  for (int round = 0; round < 6; ++round) {
    const Problem problem = lifetime_problem(random, 90, 30, 5000);
    PackingOptions options;
    options.max_local_visits = 1'000'000;
    options.max_nodes = 2'000;
    const Solution a = solve(problem, options), b = solve(problem, options);
    EXPECT_EQ(a.offsets, b.offsets);
    EXPECT_EQ(a.nodes, b.nodes);
    EXPECT_EQ(a.method, b.method);
  }
}

TEST(Packing, IndependentPartsAreProvenApart) {
  // The small part's own optimum does not matter next to the large one.
  TestRandom random(41);
  Problem problem = lifetime_problem(random, 40, 12, 100);
  const auto large = problem.add(100'000, 16);
  const auto other = problem.add(1, 16);
  problem.separate(large, other);
  const Solution solution = solve(problem);
  EXPECT_EQ(check(problem, solution), "");
  EXPECT_EQ(solution.height, 100'001);
  EXPECT_TRUE(solution.proven_optimal);
  EXPECT_LT(solution.method, Method::kLocalSearch);
}

TEST(Packing, GivenBoundEndsTheSearch) {
  std::vector<Interval> life;
  TestRandom random(51);
  Problem problem = lifetime_problem(random, 30, 10, 100, &life);
  problem.lower_bound = live_bytes(problem, life);
  const Solution solution = solve(problem);
  EXPECT_EQ(check(problem, solution), "");
  EXPECT_EQ(solution.lower_bound, problem.lower_bound);
  problem.lower_bound = solution.height + 1;  // a false bound is found out
  const Solution cheated = solve(problem);
  EXPECT_FALSE(cheated.proven_optimal);
  EXPECT_NE(check(problem, cheated), "");
}

TEST(Packing, LifetimesReachTheLiveBytesWithoutBeingTold) {
  // The clique bound alone must find the live-bytes peak of interval graphs.
  TestRandom random(61);
  for (int round = 0; round < 40; ++round) {
    std::vector<Interval> life;
    const Problem problem = lifetime_problem(random, 60, 20, 1000, &life);
    PackingOptions greedy_only;
    greedy_only.max_local_visits = greedy_only.max_nodes = 0;
    EXPECT_EQ(solve(problem, greedy_only).lower_bound, live_bytes(problem, life));
  }
}

// Long chains with a few skips, as networks are: the portfolio must end at the bound, at once.
TEST(Packing, NetworksOfThreeHundredTensorsAreGreedy) {
  TestRandom random(71);
  for (int round = 0; round < 10; ++round) {
    Problem problem;
    std::vector<Interval> life;
    int64_t size = 40'000;
    for (int64_t t = 0; t < 300; ++t) {
      size = std::max<int64_t>(64, size * random.range(85, 113) / 100);
      life.push_back({t, t + (random.one_in(6) ? random.range(2, 4) : 1)});
      problem.add(size, 1);
      for (size_t k = 0; k + 1 < life.size(); ++k) {
        if (meet(life[k], life.back())) problem.separate(static_cast<int32_t>(k), static_cast<int32_t>(t));
      }
    }
    const Solution solution = solve(problem);
    EXPECT_EQ(check(problem, solution), "");
    EXPECT_TRUE(solution.proven_optimal);
    EXPECT_EQ(solution.height, live_bytes(problem, life));
  }
}

TEST(PackingCheck, FindsEveryKindOfViolation) {
  Problem problem;
  problem.add(8, 4, "a");
  problem.add(8, 4, "b");
  problem.separate(0, 1);
  const Solution good = solve(problem);
  ASSERT_EQ(check(problem, good), "");
  const auto wrong = [&](auto edit, const char* what) {
    Solution bad = good;
    edit(bad);
    EXPECT_NE(check(problem, bad).find(what), std::string::npos) << check(problem, bad);
  };
  wrong([](Solution& s) { s.offsets.pop_back(); }, "1 offsets for 2 items");
  wrong([](Solution& s) { s.offsets = {-4, 8}; }, "item 0 'a' at -4 lies below the arena");
  wrong([](Solution& s) { s.offsets = {0, 10}; }, "item 1 'b' at 10 is not aligned to 4");
  wrong([](Solution& s) { s.offsets = {0, 4}; }, "are 4 bytes apart");
  wrong([](Solution& s) { s.offsets = {0, 12}; }, "height is 20, not 16");
  wrong([](Solution& s) { s.lower_bound = 17; }, "lower bound 17 is above the height 16");
  wrong([](Solution& s) { s.lower_bound = 15; }, "claims to be optimal at 16 with a bound of 15");
  wrong([](Solution& s) { s.error = "no"; }, "there is no packing: no");
  problem.items[0].fixed = 16;
  wrong([](Solution&) {}, "is not at its fixed offset 16");
}

TEST(Packing, NothingOverflowsAtTheLimits) {
  Problem problem;
  for (int k = 0; k < 4; ++k) problem.add(kMaxBytes, kMaxAlignment);
  problem.items[3].fixed = kMaxBytes;
  for (int32_t i = 0; i < 4; ++i) {
    for (int32_t j = i + 1; j < 4; ++j) problem.separate(i, j);
  }
  problem.separations.push_back({0, 1, -kMaxBytes, kMaxBytes});
  expect_optimal(problem, 4 * kMaxBytes);
}

}  // namespace
}  // namespace aotc::plan
