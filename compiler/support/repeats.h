// SPDX-License-Identifier: Apache-2.0
// Finds repeats in a list: ranges that consist of several consecutive copies of one sequence. The search is greedy: it
// takes the repeat with the largest gain first, and then searches only the rest of the list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace aotc {

// list[begin + i] == list[begin + i + period] for 0 <= i < (count - 1) * period.
struct Repeat {
  size_t begin = 0;
  size_t period = 0;
  size_t count = 0;
  size_t end() const { return begin + period * count; }
};

// Computes the gain of a repeat. A repeat with a gain of 0 or less is ignored.
using RepeatGain = std::function<int64_t(const Repeat&)>;

// Returns disjoint repeats in the order of the list, each with at least `least` copies and a period of at most
// kMostPeriod.
inline constexpr size_t kMostPeriod = 512;
std::vector<Repeat> find_repeats(const std::vector<int>& list, size_t least, const RepeatGain& gain);

}  // namespace aotc
