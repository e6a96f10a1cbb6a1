// SPDX-License-Identifier: Apache-2.0
// The cheapest assignment of 0 and 1 to variables where some pairs cost if the first is 0 and the
// second 1. The one thing to know: of several cheapest assignments the one with the fewest ones is
// given, and so it is always the same.
#pragma once

#include <cstdint>
#include <vector>

namespace aotc::passes {

class MinCut {
 public:
  static constexpr int kZero = 0, kOne = 1;  // variables with that value
  static constexpr int64_t kNever = INT64_MAX / 4;

  int add_variable();
  // Costs so much if `zero` is 0 and `one` is 1.
  void add_cost(int zero, int one, int64_t cost);
  // By variable: is it 1?
  std::vector<bool> solve();

 private:
  struct Edge {
    int to;
    int64_t left;  // capacity
  };
  bool find_levels();
  int64_t push(int from, int64_t most);

  std::vector<Edge> edges_;  // an edge and the one back, in pairs
  std::vector<std::vector<int>> out_ = std::vector<std::vector<int>>(2);
  std::vector<int> level_;
  std::vector<size_t> next_;
};

}  // namespace aotc::passes
