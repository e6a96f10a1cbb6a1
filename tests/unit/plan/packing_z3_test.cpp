// SPDX-License-Identifier: Apache-2.0
// Z3 as an oracle for problems too large to exhaust. Compiled to nothing unless the build defines
// AOTC_HAVE_Z3 and links libz3.
#ifdef AOTC_HAVE_Z3

#include <gtest/gtest.h>
#include <z3++.h>

#include "packing_oracle.h"
#include "plan/packing.h"

namespace aotc::plan {
namespace {

// Whether the problem has a packing of at most `height` bytes, by linear integer arithmetic.
z3::check_result packable(const Problem& problem, int64_t height) {
  z3::context context;
  z3::solver solver(context);
  z3::params params(context);
  params.set("timeout", 5000u);
  solver.set(params);
  z3::expr_vector offset(context);
  for (size_t k = 0; k < problem.items.size(); ++k) {
    const Item& item = problem.items[k];
    const z3::expr step = context.int_const(("o" + std::to_string(k)).c_str());
    offset.push_back(step * context.int_val(item.alignment));
    solver.add(step >= 0);
    solver.add(offset.back() + context.int_val(item.size) <= context.int_val(height));
    if (item.fixed) solver.add(offset.back() == context.int_val(*item.fixed));
  }
  for (const Separation& s : problem.separations) {
    const z3::expr delta = offset[s.j] - offset[s.i];
    solver.add(delta >= context.int_val(s.d_ij) || -delta >= context.int_val(s.d_ji));
  }
  return solver.check();
}

void compare(const Problem& problem, int& proven) {
  const Solution solution = solve(problem);
  if (!solution.ok()) {
    EXPECT_EQ(packable(problem, 10'000), z3::unsat);
    return;
  }
  ASSERT_EQ(check(problem, solution), "");
  ASSERT_TRUE(solution.proven_optimal);
  EXPECT_EQ(packable(problem, solution.height), z3::sat);
  const z3::check_result lower = packable(problem, solution.height - 1);
  EXPECT_NE(lower, z3::sat) << "Z3 packs below " << solution.height;
  proven += lower == z3::unsat;
}

TEST(PackingZ3, Lifetimes) {
  TestRandom random(101);
  int proven = 0;
  for (int round = 0; round < 25; ++round) compare(lifetime_problem(random, 10, 6, 50), proven);
  EXPECT_GT(proven, 20);
}

TEST(PackingZ3, WildProblems) {
  TestRandom random(102);
  int proven = 0;
  for (int round = 0; round < 60; ++round) compare(wild_problem(random, 6 + round % 4, round % 3 == 0), proven);
  EXPECT_GT(proven, 20);
}

}  // namespace
}  // namespace aotc::plan

#endif  // AOTC_HAVE_Z3
