// SPDX-License-Identifier: Apache-2.0
// Exact packing of buffers into one arena: gives every item a byte offset so that all pairwise
// separations hold and the arena is as small as can be shown. The one thing a caller must know: the
// packer has no idea of lifetimes. Two items that are not named together in a separation may share
// bytes, so the caller lists every pair that interacts; `proven_optimal` is set only when the
// height equals a lower bound or the search was exhausted, and everything is a pure function of the
// problem and the options (work is counted, no clock is read).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aotc::plan {

struct Item {
  int64_t size = 0;              // bytes, 0 .. kMaxBytes
  int64_t alignment = 1;         // bytes, a power of two, at most kMaxAlignment
  std::optional<int64_t> fixed;  // the offset it must get, in bytes
  std::string name;              // for messages only
};

// Allowed: offset[j] - offset[i] >= d_ij  OR  offset[i] - offset[j] >= d_ji  (bytes).
// Two items that must share nothing have d_ij = size_i and d_ji = size_j. An operator that may
// write its result over its operand makes one of the two smaller, down to negative. A pair may be
// listed more than once: all of its separations must hold.
struct Separation {
  int32_t i = 0;
  int32_t j = 0;
  int64_t d_ij = 0;
  int64_t d_ji = 0;
};

struct Problem {
  std::vector<Item> items;  // in time order if there is one: it is one of the greedy orders
  std::vector<Separation> separations;
  int64_t lower_bound = 0;  // a height the caller knows to be necessary (e.g. live bytes), in bytes

  // Adds an item and returns its index.
  int32_t add(int64_t size, int64_t alignment = 1, std::string name = {});
  // Items i and j share no byte.
  void separate(int32_t i, int32_t j);
};

inline constexpr int64_t kMaxBytes = int64_t{1} << 40;      // of a size, a fixed offset or a |d|
inline constexpr int64_t kMaxAlignment = int64_t{1} << 30;  // bytes
inline constexpr int32_t kMaxItems = 1 << 17;

struct PackingOptions {
  int64_t max_nodes = 20'000;             // of each tree search; 0: none
  int64_t max_local_visits = 20'000'000;  // neighbour visits of the local search; 0: none
  // Of all searches together: items and separations that are looked at. Large problems run out of it
  // and keep the best packing so far; the greedy orders are always tried.
  int64_t max_work = 100'000'000;
  uint64_t seed = 1;  // of the local search
};

// The stage that found the solution; the strongest one where parts were solved apart.
enum class Method {
  kNone,
  kGreedyGivenOrder,
  kGreedyReversed,
  kGreedyBySize,
  kGreedyByBreadth,
  kGreedyByConflicts,
  kGreedyByHeight,
  kLocalSearch,
  kCanonicalSearch,
  kDisjunctiveSearch,
};
std::string_view method_name(Method method);

struct Solution {
  std::vector<int64_t> offsets;  // bytes, one per item; empty if there is an error
  int64_t height = 0;            // bytes of the arena
  int64_t lower_bound = 0;       // bytes that any packing needs
  bool proven_optimal = false;
  Method method = Method::kNone;
  int64_t nodes = 0;  // of the tree searches
  int64_t work = 0;   // items and separations looked at, those of the greedy orders included
  std::string error;  // why there is no packing: what, where, what to do, [slug]

  bool ok() const { return error.empty(); }
};

// Packs. The only valid problems without a packing are those whose fixed offsets contradict a
// separation or an alignment ([packing-fixed]); malformed ones give [packing-problem].
[[nodiscard]] Solution solve(const Problem& problem, const PackingOptions& options = {});

// Empty if `solution` keeps every constraint of `problem` and claims nothing false about itself;
// else the first violation. Shares no code with solve().
[[nodiscard]] std::string check(const Problem& problem, const Solution& solution);

}  // namespace aotc::plan
