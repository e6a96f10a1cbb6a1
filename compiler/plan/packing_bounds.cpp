// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <limits>
#include <queue>
#include <set>

#include "plan/packing_model.h"

namespace aotc::plan::packing {
namespace {

constexpr int32_t kMaxCliqueItems = 2048;  // above this the adjacency matrix is not worth its bytes

using Bits = std::vector<uint64_t>;

bool test(const Bits& bits, int32_t k) { return (bits[k >> 6] >> (k & 63)) & 1; }
void set(Bits& bits, int32_t k) { bits[k >> 6] |= uint64_t{1} << (k & 63); }
void keep(Bits& bits, const Bits& other) {
  for (size_t w = 0; w < bits.size(); ++w) bits[w] &= other[w];
}

// `a` has no bit before `word`.
bool subset(const Bits& a, const Bits& b, size_t word) {
  for (size_t w = word; w < a.size(); ++w) {
    if (a[w] & ~b[w]) return false;
  }
  return true;
}

// Items by size, the largest first: bits stand for ranks in this order.
struct Ranks {
  std::vector<int32_t> item, of;

  explicit Ranks(const Model& model) : item(model.size.size()), of(model.size.size()) {
    for (int32_t k = 0; k < model.count(); ++k) item[k] = k;
    std::stable_sort(item.begin(), item.end(), [&](int32_t a, int32_t b) { return model.size[a] > model.size[b]; });
    for (int32_t r = 0; r < model.count(); ++r) of[item[r]] = r;
  }
};

// By item, in ranks.
std::vector<Bits> adjacency(const Model& model, const Ranks& ranks, bool positive_only) {
  const Bits none((model.size.size() + 63) / 64, 0);
  std::vector<Bits> adjacent(model.size.size(), none);
  for (const Separation& e : model.edges) {
    if (positive_only && (e.d_ij <= 0 || e.d_ji <= 0)) continue;
    set(adjacent[e.i], ranks.of[e.j]);
    set(adjacent[e.j], ranks.of[e.i]);
  }
  return adjacent;
}

// Calls visit(rank) for every bit in order; it may clear bits that are still to come.
template <typename Visit>
void for_each_bit(const Bits& bits, const Visit& visit) {
  for (size_t w = 0; w < bits.size(); ++w) {
    for (uint64_t left = bits[w]; left != 0;) {
      const int bit = std::countr_zero(left);
      visit(static_cast<int32_t>(w * 64) + bit);
      left &= bits[w] & ~((uint64_t{2} << bit) - 1);
    }
  }
}

// Maximum cardinality search (Tarjan and Yannakakis 1984): in a chordal graph the already visited
// neighbours of each vertex form a clique with it, and every maximal clique appears that way.
std::vector<Bits> chordal_candidates(const Model& model, const Ranks& ranks, const std::vector<Bits>& adjacent) {
  const int32_t n = model.count();
  Bits visited((model.size.size() + 63) / 64, 0);
  std::vector<int32_t> degree(n, 0);
  std::vector<char> done(n, 0);
  std::vector<Bits> candidates(n);
  // The largest degree, then the lowest item. Entries whose degree has grown since are left in the queue.
  std::priority_queue<std::pair<int32_t, int32_t>> queue;
  for (int32_t k = 0; k < n; ++k) queue.emplace(0, -k);
  while (!queue.empty()) {
    const auto [of, item] = queue.top();
    queue.pop();
    const int32_t next = -item;
    if (done[next] || degree[next] != of) continue;
    done[next] = 1;
    candidates[next] = adjacent[next];
    keep(candidates[next], visited);
    set(visited, ranks.of[next]);
    for_each_bit(adjacent[next], [&](int32_t rank) {
      const int32_t k = ranks.item[rank];
      ++degree[k];
      if (!done[k]) queue.emplace(degree[k], -k);
    });
  }
  return candidates;
}

// By item: the positive distances to its neighbours, the least first, and the neighbours' ranks.
using Distances = std::vector<std::vector<std::pair<int64_t, int32_t>>>;

Distances sorted_distances(const Model& model, const Ranks& ranks) {
  Distances out(model.size.size());
  for (const Separation& e : model.edges) {
    if (e.d_ij > 0) out[e.i].emplace_back(e.d_ij, ranks.of[e.j]);
    if (e.d_ji > 0) out[e.j].emplace_back(e.d_ji, ranks.of[e.i]);
  }
  for (auto& of_item : out) std::sort(of_item.begin(), of_item.end());
  return out;
}

// Gives each member its weight, the least distance to another member, and the clique its bound. A member's neighbours
// are mostly in its clique, so the search ends soon.
void weigh(const Model& model, const Distances& distances, const Bits& bits, Clique& clique) {
  clique.tail = std::numeric_limits<int64_t>::max();
  int64_t sum = 0;
  for (int32_t k : clique.members) {
    const auto least =
        std::find_if(distances[k].begin(), distances[k].end(), [&](const auto& d) { return test(bits, d.second); });
    const int64_t weight = clique.members.size() == 1    ? model.size[k]
                           : least != distances[k].end() ? least->first
                                                         : std::numeric_limits<int64_t>::max();
    clique.weight.push_back(weight);
    clique.tail = std::min(clique.tail, model.size[k] - weight);
    sum += weight;
  }
  clique.bound = sum + clique.tail;
}

// Those of `found`, all different, that no other contains.
std::vector<Clique> maximal(const Model& model, const Ranks& ranks, const std::vector<Bits>& found,
                            bool positive_only) {
  // Whatever contains a set contains its first member.
  std::vector<std::vector<size_t>> with(model.size.size());
  std::vector<std::vector<int32_t>> members(found.size());
  for (size_t c = 0; c < found.size(); ++c) {
    for_each_bit(found[c], [&](int32_t rank) {
      with[rank].push_back(c);
      members[c].push_back(rank);
    });
  }
  const Distances distances = positive_only ? sorted_distances(model, ranks) : Distances();
  std::vector<Clique> cliques;
  for (size_t c = 0; c < found.size(); ++c) {
    const int32_t first = members[c].front();
    const bool covered = std::any_of(with[first].begin(), with[first].end(), [&](size_t o) {
      return members[o].size() > members[c].size() && subset(found[c], found[o], static_cast<size_t>(first) / 64);
    });
    if (covered) continue;
    Clique clique;
    for (int32_t rank : members[c]) clique.members.push_back(ranks.item[rank]);
    std::sort(clique.members.begin(), clique.members.end());
    if (positive_only) weigh(model, distances, found[c], clique);
    cliques.push_back(std::move(clique));
  }
  return cliques;
}

}  // namespace

std::vector<Clique> find_cliques(const Model& model, bool positive_only) {
  const int32_t n = model.count();
  if (n > kMaxCliqueItems) return {};
  const Ranks ranks(model);
  const std::vector<Bits> adjacent = adjacency(model, ranks, positive_only);

  // Each item once with its earlier neighbours, once with all of them; large ones are taken first.
  std::vector<Bits> found;
  std::set<Bits> known;
  const auto grow = [&](int32_t seed, Bits candidates) {
    Bits clique((model.size.size() + 63) / 64, 0);
    set(clique, ranks.of[seed]);
    for_each_bit(candidates, [&](int32_t rank) {
      set(clique, rank);
      keep(candidates, adjacent[ranks.item[rank]]);
    });
    if (known.insert(clique).second) found.push_back(std::move(clique));
  };
  const std::vector<Bits> earlier = chordal_candidates(model, ranks, adjacent);
  for (int32_t k = 0; k < n; ++k) grow(k, earlier[k]);
  for (int32_t k = 0; k < n; ++k) grow(k, adjacent[k]);
  return maximal(model, ranks, found, positive_only);
}

int64_t simple_bound(const Model& model, const std::vector<Clique>& cliques) {
  int64_t bound = 0;
  for (int32_t k = 0; k < model.count(); ++k) {
    bound = std::max(bound, model.size[k] + (model.is_fixed(k) ? model.fixed[k] : 0));
  }
  for (const Clique& clique : cliques) bound = std::max(bound, clique.bound);
  return bound;
}

}  // namespace aotc::plan::packing
