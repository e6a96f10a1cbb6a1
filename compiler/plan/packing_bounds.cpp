// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

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
bool subset(const Bits& a, const Bits& b) {
  for (size_t w = 0; w < a.size(); ++w) {
    if (a[w] & ~b[w]) return false;
  }
  return true;
}

std::vector<Bits> adjacency(const Model& model, bool positive_only) {
  const Bits none((model.size.size() + 63) / 64, 0);
  std::vector<Bits> adjacent(model.size.size(), none);
  for (const Separation& e : model.edges) {
    if (positive_only && (e.d_ij <= 0 || e.d_ji <= 0)) continue;
    set(adjacent[e.i], e.j);
    set(adjacent[e.j], e.i);
  }
  return adjacent;
}

// Maximum cardinality search (Tarjan and Yannakakis 1984): in a chordal graph the already visited
// neighbours of each vertex form a clique with it, and every maximal clique appears that way.
std::vector<Bits> chordal_candidates(const Model& model, const std::vector<Bits>& adjacent) {
  const int32_t n = model.count();
  Bits visited((model.size.size() + 63) / 64, 0);
  std::vector<int32_t> degree(n, 0);
  std::vector<char> done(n, 0);
  std::vector<Bits> candidates(n);
  for (int32_t step = 0; step < n; ++step) {
    int32_t next = -1;
    for (int32_t k = 0; k < n; ++k) {
      if (!done[k] && (next < 0 || degree[k] > degree[next])) next = k;
    }
    done[next] = 1;
    candidates[next] = adjacent[next];
    keep(candidates[next], visited);
    set(visited, next);
    for (int32_t k = 0; k < n; ++k) degree[k] += test(adjacent[next], k);
  }
  return candidates;
}

// Gives each member its weight and the clique its bound.
void weigh(const Model& model, const Bits& bits, Clique& clique) {
  clique.tail = std::numeric_limits<int64_t>::max();
  int64_t sum = 0;
  for (int32_t k : clique.members) {
    int64_t weight = std::numeric_limits<int64_t>::max();
    for (int32_t e : model.edges_of[k]) {
      const Separation& s = model.edges[e];
      const int64_t d = s.i == k ? s.d_ij : s.d_ji;
      if (d > 0 && test(bits, s.i == k ? s.j : s.i)) weight = std::min(weight, d);
    }
    if (clique.members.size() == 1) weight = model.size[k];
    clique.weight.push_back(weight);
    clique.tail = std::min(clique.tail, model.size[k] - weight);
    sum += weight;
  }
  clique.bound = sum + clique.tail;
}

}  // namespace

std::vector<Clique> find_cliques(const Model& model, bool positive_only) {
  const int32_t n = model.count();
  if (n > kMaxCliqueItems) return {};
  const std::vector<Bits> adjacent = adjacency(model, positive_only);
  std::vector<int32_t> by_size(n);
  for (int32_t k = 0; k < n; ++k) by_size[k] = k;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](int32_t a, int32_t b) { return model.size[a] > model.size[b]; });

  // Each item once with its earlier neighbours, once with all of them; large ones are taken first.
  std::vector<Bits> found;
  const auto grow = [&](int32_t seed, Bits candidates) {
    Bits clique((model.size.size() + 63) / 64, 0);
    set(clique, seed);
    for (int32_t k : by_size) {
      if (!test(candidates, k)) continue;
      set(clique, k);
      keep(candidates, adjacent[k]);
    }
    found.push_back(std::move(clique));
  };
  const std::vector<Bits> earlier = chordal_candidates(model, adjacent);
  for (int32_t k = 0; k < n; ++k) grow(k, earlier[k]);
  for (int32_t k = 0; k < n; ++k) grow(k, adjacent[k]);

  std::vector<Clique> cliques;
  for (size_t c = 0; c < found.size(); ++c) {
    bool covered = false;
    for (size_t o = 0; o < found.size() && !covered; ++o) {
      covered = o != c && subset(found[c], found[o]) && (found[c] != found[o] || o < c);
    }
    if (covered) continue;
    Clique clique;
    for (int32_t k = 0; k < n; ++k) {
      if (test(found[c], k)) clique.members.push_back(k);
    }
    if (positive_only) weigh(model, found[c], clique);
    cliques.push_back(std::move(clique));
  }
  return cliques;
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
