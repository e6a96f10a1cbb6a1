// SPDX-License-Identifier: Apache-2.0
// Oracles and generators for the packing tests. The one thing to know: exhaustive_height shares no
// idea with the solver; it tries every aligned offset.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/packing.h"

namespace aotc::plan {

// A generator whose numbers are the same everywhere.
class TestRandom {
 public:
  explicit TestRandom(uint64_t seed) : state_(seed * 2862933555777941757u + 3037000493u) {}
  int64_t range(int64_t low, int64_t high) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return low + static_cast<int64_t>((state_ >> 33) % static_cast<uint64_t>(high - low + 1));
  }
  bool one_in(int64_t n) { return range(1, n) == 1; }

 private:
  uint64_t state_;
};

struct Interval {
  int64_t first, last;
};

inline bool meet(const Interval& a, const Interval& b) { return a.first <= b.last && b.first <= a.last; }

// Buffers with random lifetimes: the usual problem.
inline Problem lifetime_problem(TestRandom& random, int n, int64_t steps, int64_t max_size,
                                std::vector<Interval>* lives = nullptr) {
  Problem problem;
  std::vector<Interval> life;
  for (int k = 0; k < n; ++k) {
    const int64_t first = random.range(0, steps - 1);
    life.push_back({first, std::min(steps - 1, first + random.range(0, steps / 4 + 1))});
    problem.add(random.range(1, max_size));
    for (int other = 0; other < k; ++other) {
      if (meet(life[static_cast<size_t>(other)], life.back())) problem.separate(other, k);
    }
  }
  if (lives != nullptr) *lives = life;
  return problem;
}

inline int64_t live_bytes(const Problem& problem, const std::vector<Interval>& life) {
  int64_t peak = 0;
  for (const Interval& at : life) {
    int64_t sum = 0;
    for (size_t k = 0; k < life.size(); ++k) {
      if (life[k].first <= at.first && at.first <= life[k].last) sum += problem.items[k].size;
    }
    peak = std::max(peak, sum);
  }
  return peak;
}

// Small random problems with everything in them: negative distances, alignments, fixed offsets,
// pairs listed twice. May be contradictory.
inline Problem wild_problem(TestRandom& random, int n, bool positive) {
  Problem problem;
  for (int k = 0; k < n; ++k) {
    const int64_t alignment = int64_t{1} << random.range(0, 2);
    const int32_t item = problem.add(random.range(positive ? 1 : 0, 5), alignment);
    if (random.one_in(5)) {
      Item& fixed = problem.items[static_cast<size_t>(item)];
      fixed.fixed = random.range(0, 2) * fixed.alignment;
    }
  }
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = i + 1; j < n; ++j) {
      if (random.one_in(3)) continue;
      problem.separate(i, j);
      Separation& s = problem.separations.back();
      if (!positive && random.one_in(2)) s.d_ij = random.range(-4, s.d_ij);
      if (!positive && random.one_in(3)) s.d_ji = random.range(-4, s.d_ji);
      if (positive && random.one_in(4)) s.d_ij = random.range(1, 7);
      if (random.one_in(8)) problem.separations.push_back({j, i, random.range(1, 3), 2});
    }
  }
  return problem;
}

namespace oracle {

inline bool place_rest(const Problem& problem, int64_t height, std::vector<int64_t>& offsets) {
  const size_t k = offsets.size();
  if (k == problem.items.size()) return true;
  const Item& item = problem.items[k];
  for (int64_t o = 0; o + item.size <= height; o += item.alignment) {
    if (item.fixed && *item.fixed != o) continue;
    offsets.push_back(o);
    const auto holds = [&](const Separation& s) {
      const auto i = static_cast<size_t>(s.i), j = static_cast<size_t>(s.j);
      if (i > k || j > k) return true;
      return offsets[j] - offsets[i] >= s.d_ij || offsets[i] - offsets[j] >= s.d_ji;
    };
    if (std::all_of(problem.separations.begin(), problem.separations.end(), holds) &&
        place_rest(problem, height, offsets))
      return true;
    offsets.pop_back();
  }
  return false;
}

}  // namespace oracle

// The least height, or nothing if no packing up to `limit` bytes exists.
inline std::optional<int64_t> exhaustive_height(const Problem& problem, int64_t limit) {
  for (int64_t height = 0; height <= limit; ++height) {
    std::vector<int64_t> offsets;
    if (oracle::place_rest(problem, height, offsets)) return height;
  }
  return std::nullopt;
}

// One greedy order, for comparison: each item at the lowest offset free of the earlier ones.
inline int64_t greedy_height(const Problem& problem, const std::vector<int32_t>& order) {
  std::vector<std::optional<int64_t>> at(problem.items.size());
  int64_t height = 0;
  for (int32_t k : order) {
    int64_t o = 0;
    const auto blocked = [&](const Separation& s) {
      if (s.i != k && s.j != k) return false;
      const auto other = at[static_cast<size_t>(s.i == k ? s.j : s.i)];
      if (!other) return false;
      const int64_t delta = s.i == k ? *other - o : o - *other;  // of j minus i
      return delta < s.d_ij && -delta < s.d_ji;
    };
    while (std::any_of(problem.separations.begin(), problem.separations.end(), blocked)) ++o;
    at[static_cast<size_t>(k)] = o;
    height = std::max(height, o + problem.items[static_cast<size_t>(k)].size);
  }
  return height;
}

}  // namespace aotc::plan
