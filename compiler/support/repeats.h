// SPDX-License-Identifier: Apache-2.0
// Where a list repeats itself: stretches that are one body several times over, without a gap. The
// one thing to know: what is found first is what gains most, and only what lies beside it is looked
// at then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace aotc {

// list[begin + i] == list[begin + i + period] for all that is within count * period items.
struct Repeat {
  size_t begin = 0;
  size_t period = 0;
  size_t count = 0;
  size_t end() const { return begin + period * count; }
};

// What a repeat is worth; it is taken where that is above 0.
using RepeatGain = std::function<int64_t(const Repeat&)>;

// Disjoint repeats in the order of the list, of at least `least` turns and at most kMostPeriod
// items.
inline constexpr size_t kMostPeriod = 512;
std::vector<Repeat> find_repeats(const std::vector<int>& list, size_t least,
                                 const RepeatGain& gain);

}  // namespace aotc
