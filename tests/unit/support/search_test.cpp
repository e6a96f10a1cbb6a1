// SPDX-License-Identifier: Apache-2.0
// The loop of searches: when proposers propose anew, and in which order candidates are tried.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/search.h"

namespace aotc {
namespace {

using testing::ElementsAre;

// Looks for a small number: the candidates are one and two less than the best, and the double.
std::vector<int> tried_from(int first, Again again, int& best) {
  std::vector<int> tried;
  best = first;
  search<int>({{[&] { return std::vector{best - 1, best - 2, best * 2}; }, again}}, [&](int candidate) {
    tried.push_back(candidate);
    if (candidate < 0 || candidate >= best) return false;
    best = candidate;
    return true;
  });
  return tried;
}

TEST(Search, ProposesOnce) {
  int best = 0;
  EXPECT_THAT(tried_from(5, Again::kNever, best), ElementsAre(4, 3, 10));
  EXPECT_EQ(best, 3);
}

TEST(Search, DropsTheRestAfterASuccess) {
  int best = 0;
  EXPECT_THAT(tried_from(2, Again::kAfterSuccess, best), ElementsAre(1, 0, -1, -2, 0));
  EXPECT_EQ(best, 0);
}

TEST(Search, ProposesAnewAfterAll) {
  int best = 0;
  EXPECT_THAT(tried_from(3, Again::kAfterAll, best), ElementsAre(2, 1, 6, 0, -1, 2, -1, -2, 0));
  EXPECT_EQ(best, 0);
}

TEST(Search, TriesProposersInTheirOrder) {
  std::string tried;
  search<char>({{[] { return std::vector{'a', 'b'}; }}, {[] { return std::vector<char>(); }, Again::kAfterAll}, {[&] {
                  return std::vector{tried.back()};
                }}},
               [&](char c) {
                 tried += c;
                 return true;
               });
  EXPECT_EQ(tried, "abb");
}

}  // namespace
}  // namespace aotc
