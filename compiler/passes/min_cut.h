// SPDX-License-Identifier: Apache-2.0
// MinCut: the cheapest assignment of 0 and 1 to variables, where a pair costs if its first variable is 0 and its second
// 1. Among several cheapest assignments, the one with the fewest ones is returned, so the result is unique.
#pragma once

#include <cstdint>
#include <vector>

namespace aotc::passes {

class MinCut {
 public:
  static constexpr int kZero = 0, kOne = 1;  // variables with a fixed value
  static constexpr int64_t kNever = INT64_MAX / 4;

  int add_variable();
  // Adds the cost of `zero` = 0 with `one` = 1.
  void add_cost(int zero, int one, int64_t cost);
  // By variable: true if it is 1.
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
