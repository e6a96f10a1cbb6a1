// SPDX-License-Identifier: Apache-2.0
#include "passes/min_cut.h"

#include <algorithm>

namespace aotc::passes {

int MinCut::add_variable() {
  out_.emplace_back();
  return static_cast<int>(out_.size()) - 1;
}

void MinCut::add_cost(int zero, int one, int64_t cost) {
  if (zero == one || cost == 0) return;
  out_[static_cast<size_t>(zero)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({one, cost});
  out_[static_cast<size_t>(one)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({zero, 0});
}

// Distances from kZero over what is left.
bool MinCut::find_levels() {
  level_.assign(out_.size(), -1);
  level_[kZero] = 0;
  std::vector<int> queue = {kZero};
  for (size_t at = 0; at < queue.size(); ++at)
    for (int e : out_[static_cast<size_t>(queue[at])]) {
      const Edge& edge = edges_[static_cast<size_t>(e)];
      if (edge.left == 0 || level_[static_cast<size_t>(edge.to)] >= 0) continue;
      level_[static_cast<size_t>(edge.to)] = level_[static_cast<size_t>(queue[at])] + 1;
      queue.push_back(edge.to);
    }
  return level_[kOne] >= 0;
}

int64_t MinCut::push(int from, int64_t most) {
  // A path on a stack of its own: graphs are as long as networks.
  std::vector<int> path;
  int at = from;
  while (at != kOne) {
    auto here = static_cast<size_t>(at);
    if (next_[here] == out_[here].size()) {
      if (path.empty()) return 0;
      level_[here] = -1;
      at = edges_[static_cast<size_t>(path.back() ^ 1)].to;
      path.pop_back();
      continue;
    }
    int e = out_[here][next_[here]];
    const Edge& edge = edges_[static_cast<size_t>(e)];
    if (edge.left == 0 || level_[static_cast<size_t>(edge.to)] != level_[here] + 1) {
      ++next_[here];
      continue;
    }
    path.push_back(e);
    at = edge.to;
  }
  for (int e : path) most = std::min(most, edges_[static_cast<size_t>(e)].left);
  for (int e : path) {
    edges_[static_cast<size_t>(e)].left -= most;
    edges_[static_cast<size_t>(e ^ 1)].left += most;
  }
  return most;
}

std::vector<bool> MinCut::solve() {
  while (find_levels()) {
    next_.assign(out_.size(), 0);
    while (push(kZero, kNever) > 0) {
    }
  }
  // 1 is what still reaches kOne.
  std::vector<bool> one(out_.size(), false);
  one[kOne] = true;
  std::vector<int> queue = {kOne};
  for (size_t at = 0; at < queue.size(); ++at)
    for (int e : out_[static_cast<size_t>(queue[at])]) {
      const Edge& back = edges_[static_cast<size_t>(e ^ 1)];
      int from = edges_[static_cast<size_t>(e)].to;
      if (back.left == 0 || one[static_cast<size_t>(from)]) continue;
      one[static_cast<size_t>(from)] = true;
      queue.push_back(from);
    }
  return one;
}

}  // namespace aotc::passes
