// SPDX-License-Identifier: Apache-2.0
// MinCut: finds the cheapest assignment of 0 and 1 to variables. An ordered pair of variables has a cost, which is due
// if the first variable is 0 and the second is 1. If several assignments are cheapest, the result is the assignment
// that sets the fewest variables to 1. Only one assignment does so, so the result is unique.
#pragma once

#include <cstdint>
#include <vector>

namespace aotc::passes {

class MinCut {
 public:
  static constexpr int kZero = 0, kOne = 1;  // variables with a fixed value
  static constexpr int64_t kNever = INT64_MAX / 4;

  int add_variable();
  // Adds a cost that is due if variable `zero` is 0 and variable `one` is 1.
  void add_cost(int zero, int one, int64_t cost);
  // Returns, by variable, true if it is 1.
  std::vector<bool> solve();

 private:
  struct Edge {
    int to;
    int64_t left;  // capacity
  };
  bool find_levels();
  int64_t push(int from, int64_t most);

  std::vector<Edge> edges_;  // an edge and its reverse, in pairs
  std::vector<std::vector<int>> out_ = std::vector<std::vector<int>>(2);
  std::vector<int> level_;
  std::vector<size_t> next_;
};

}  // namespace aotc::passes
