// SPDX-License-Identifier: Apache-2.0
// The packer's parts one by one: what the whole would make up for is seen here only.
#include "plan/packing_model.h"

#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aotc::plan::packing {
namespace {

using ::testing::ElementsAre;

Model model_of(const Problem& problem) {
  std::vector<int32_t> items(problem.items.size());
  std::iota(items.begin(), items.end(), 0);
  return make_model(problem, problem.separations, items);
}

TEST(PackingModel, BoundOfOneItemIsItsTop) {
  Problem problem;
  problem.add(30);
  problem.add(10);
  EXPECT_EQ(simple_bound(model_of(problem), {}), 30);
  problem.items[1].fixed = 100;
  EXPECT_EQ(simple_bound(model_of(problem), {}), 110);
  problem.items[0].fixed = 0;
  EXPECT_EQ(simple_bound(model_of(problem), {}), 110);
}

TEST(PackingModel, BoundOfACliqueIsItsSum) {
  Problem problem;
  for (int64_t size : {5, 7, 11, 100}) problem.add(size);
  for (int32_t i = 0; i < 3; ++i)
    for (int32_t j = 0; j < i; ++j) problem.separate(i, j);
  const Model model = model_of(problem);
  const std::vector<Clique> cliques = find_cliques(model, true);
  ASSERT_EQ(cliques.size(), 2u);
  std::vector<int64_t> bounds;
  for (const Clique& c : cliques) bounds.push_back(c.bound);
  EXPECT_THAT(bounds, ::testing::UnorderedElementsAre(23, 100));
  EXPECT_EQ(simple_bound(model, cliques), 100);
}

TEST(PackingModel, LastOfACliqueCountsItsWholeSize) {
  Problem problem;
  problem.add(10);
  problem.add(10);
  problem.separations.push_back({0, 1, 4, 6});  // they may share bytes
  const std::vector<Clique> cliques = find_cliques(model_of(problem), true);
  ASSERT_EQ(cliques.size(), 1u);
  EXPECT_THAT(cliques[0].members, ElementsAre(0, 1));
  EXPECT_THAT(cliques[0].weight, ElementsAre(4, 6));
  EXPECT_EQ(cliques[0].tail, 4);
  EXPECT_EQ(cliques[0].bound, 14);
}

TEST(PackingModel, LowestOffsetLiesInTheFirstGapThatIsLargeEnough) {
  Problem problem;
  for (int64_t size : {8, 8, 6, 16}) problem.add(size);
  problem.items[2].alignment = 4;
  for (int32_t i = 0; i < 4; ++i)
    for (int32_t j = 0; j < i; ++j) problem.separate(i, j);
  const Model model = model_of(problem);
  Placement placement(model);
  placement.place(0, 0);
  placement.place(1, 15);
  EXPECT_EQ(placement.lowest(2, 0), 8);
  EXPECT_EQ(placement.lowest(2, 9), 24);  // aligned, 12 to 18 is taken
  EXPECT_EQ(placement.lowest(3, 0), 23);
  placement.remove(1);
  EXPECT_EQ(placement.lowest(3, 0), 8);
  EXPECT_GT(placement.visits(), 0);
}

TEST(PackingModel, PlacingGivesUpWhereTheLimitIsExceeded) {
  Problem problem;
  for (int i = 0; i < 4; ++i) problem.add(10);
  for (int32_t i = 0; i < 4; ++i)
    for (int32_t j = 0; j < i; ++j) problem.separate(i, j);
  const Model model = model_of(problem);
  Placement placement(model);
  EXPECT_EQ(placement.place_all({0, 1, 2, 3}, std::numeric_limits<int64_t>::max()), 40);
  EXPECT_THAT(placement.offsets(), ElementsAre(0, 10, 20, 30));
  EXPECT_EQ(placement.place_all({3, 2, 1, 0}, 40), 40);
  EXPECT_EQ(placement.place_all({3, 2, 1, 0}, 39), 40);
  EXPECT_EQ(placement.place_all({3, 2, 1, 0}, 25), 26);
}

// Five items in a ring of separations: each must be apart from the next only.
Problem ring() {
  Problem problem;
  for (int64_t size : {6, 7, 8, 9, 10}) problem.add(size);
  for (int32_t i = 0; i < 5; ++i) problem.separate(i, (i + 1) % 5);
  return problem;
}

TEST(PackingModel, SearchesEndWithTheBestHeightAndSayThatItIs) {
  const Problem problem = ring();
  const Model model = model_of(problem);
  const std::vector<Clique> cliques = find_cliques(model, true);
  for (auto* search_with : {search_canonical, search_disjunctive}) {
    Search search;
    search.max_nodes = 10000;
    search.max_work = 1'000'000;
    search.best_height = 1000;
    search_with(model, cliques, search);
    EXPECT_TRUE(search.improved && search.finished);
    EXPECT_EQ(search.best_height, model.height(search.offsets));
    const int64_t best = search.best_height;
    EXPECT_GE(best, 19);
    EXPECT_LE(best, 24);

    // Nothing below it.
    Search below;
    below.max_nodes = 10000;
    below.max_work = 1'000'000;
    below.best_height = best;
    search_with(model, cliques, below);
    EXPECT_TRUE(below.finished);
    EXPECT_FALSE(below.improved);
    EXPECT_GT(below.nodes, 0);
    EXPECT_GT(below.work, 0);

    // Without nodes or work, nothing is known.
    for (bool nodes : {true, false}) {
      Search none;
      none.max_nodes = nodes ? 0 : 10000;
      none.max_work = nodes ? 1'000'000 : 0;
      none.best_height = best;
      search_with(model, cliques, none);
      EXPECT_FALSE(none.finished || none.improved);
    }

    // What is enough ends it before the end is known.
    Search enough;
    enough.enough = best;
    enough.max_nodes = 10000;
    enough.max_work = 1'000'000;
    enough.best_height = 1000;
    search_with(model, cliques, enough);
    EXPECT_EQ(enough.best_height, best);
    EXPECT_FALSE(enough.finished);
  }
}

// What a search of sides looks at: all items and separations for each node, and each separation whose
// distances it goes through, of which it may go through so many only.
TEST(PackingModel, ASearchOfSidesCountsWhatItLooksAt) {
  const Model model = model_of(ring());
  for (int64_t nodes : {1, 3, 10000}) {
    Search search;
    search.max_nodes = nodes;
    search.max_work = 1'000'000;
    search.best_height = 24;
    search_disjunctive(model, find_cliques(model, true), search);
    EXPECT_GT(search.nodes, 0);
    EXPECT_GE(search.work, search.nodes * (5 + 5) + 5);
  }
  // 1 above 0 and 0 above 1, each by a byte more: distances go round and round up to the height.
  Problem round;
  for (int k = 0; k < 3; ++k) round.add(1);
  const int64_t far = int64_t{1} << 40;
  round.separations = {{0, 1, 1, far}, {1, 2, 1, far}, {2, 0, -1, far}};
  const Model steps = model_of(round);
  Search search;
  search.max_nodes = 1000;
  search.max_work = 5000;
  search.best_height = far / 2;
  search_disjunctive(steps, find_cliques(steps, true), search);
  EXPECT_FALSE(search.finished || search.improved);
  EXPECT_GT(search.work, 4000);
  EXPECT_LT(search.work, 6000);
}

TEST(PackingModel, ItemsOfNoBytesHaveNoHeight) {
  Problem problem;
  problem.add(0);
  problem.add(0);
  EXPECT_EQ(model_of(problem).height({0, 0}), 0);
  EXPECT_EQ(model_of(problem).height({0, 4}), 4);
}

TEST(PackingModel, PartsOfAPartKeepTheirDistancesAndPlaces) {
  Problem problem = ring();
  problem.items[3].fixed = 40;
  problem.items[4].alignment = 8;
  const Model model = model_of(problem);
  const Model part = make_submodel(model, {3, 4});
  EXPECT_THAT(part.source, ElementsAre(3, 4));
  EXPECT_THAT(part.size, ElementsAre(9, 10));
  EXPECT_EQ(part.fixed[0], 40);
  EXPECT_FALSE(part.is_fixed(1));
  EXPECT_EQ(part.align_up(1, 9), 16);
  EXPECT_EQ(part.align_down(1, 15), 8);
  ASSERT_EQ(part.edges.size(), 1u);
  EXPECT_EQ(part.edges_of[0].size(), 1u);
  EXPECT_EQ(part.near[1].size(), 1u);
  EXPECT_EQ(part.near[1][0].item, 0);
}

}  // namespace
}  // namespace aotc::plan::packing
