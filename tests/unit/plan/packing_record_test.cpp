// SPDX-License-Identifier: Apache-2.0
// What the packer answers to a few hundred random problems, to the byte: its results are the same
// on every machine, and a change of its searches that nobody meant shows. Where one is meant, run
// AOTC_UPDATE_RECORDS=1 unit_tests --gtest_filter='*Record*' and look at the difference.
#include <gtest/gtest.h>

#include "../support/record.h"
#include "packing_oracle.h"

namespace aotc::plan {
namespace {

std::string line_of(const std::string& what, const Problem& problem, const Solution& s) {
  if (!s.ok()) return what + " " + s.error + "\n";
  uint64_t hash = 14695981039346656037u;
  for (int64_t offset : s.offsets) hash = (hash ^ static_cast<uint64_t>(offset)) * 1099511628211u;
  EXPECT_EQ(check(problem, s), "");
  return what + " height " + std::to_string(s.height) + " bound " + std::to_string(s.lower_bound) +
         (s.proven_optimal ? " optimal" : "") + ", " + std::string(method_name(s.method)) + ", " +
         std::to_string(s.nodes) + " nodes, offsets " + std::to_string(hash) + "\n";
}

// Few visits and nodes, so that the limits are met too.
PackingOptions tight() {
  PackingOptions options;
  options.max_nodes = 300;
  options.max_local_visits = 20'000;
  return options;
}

TEST(PackingRecord, RandomProblems) {
  std::string all;
  TestRandom random(77);
  for (int round = 0; round < 120; ++round) {
    Problem problem = lifetime_problem(random, 4 + round % 40, 6 + round % 30, 1 + 40 * (round % 3));
    if (round % 3 == 1)
      for (Item& item : problem.items) item.alignment = int64_t{1} << random.range(0, 4);
    // Results over operands: shorter distances, also below zero.
    if (round % 2 == 1)
      for (Separation& s : problem.separations)
        if (random.one_in(4)) (random.one_in(2) ? s.d_ij : s.d_ji) -= random.range(1, 30);
    all += line_of("lifetimes " + std::to_string(round), problem, solve(problem, tight()));
  }
  for (int round = 0; round < 120; ++round) {
    Problem problem = wild_problem(random, 2 + round % 9, round % 2 == 0);
    all += line_of("wild " + std::to_string(round), problem, solve(problem, tight()));
  }
  expect_record("packing.txt", all);
}

}  // namespace
}  // namespace aotc::plan
