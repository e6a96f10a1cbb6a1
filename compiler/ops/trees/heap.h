// SPDX-License-Identifier: Apache-2.0
// Trees whose first levels have all of their nodes: the children of node n are 2n and 2n + 1, so that a step is a
// comparison and a sum. Below, where nodes are missing, each node has places of its two children (pairs). The one thing
// to know: the second child is where a walk goes on if the feature is at most the threshold, and what hangs below a
// leaf of the first levels is that leaf again.
#pragma once

#include <optional>

#include "ops/trees/ensemble.h"

namespace aotc::ops::trees {

// What a walk comes to: a row of leaves, or a node below, which is the `index`th of its tree.
struct Place {
  bool leaf = true;
  int64_t index = 0, column = 0;
};

struct Heap {
  int64_t levels = 0;             // with all of their nodes
  std::vector<int32_t> words;     // thresholds as whole numbers; node n > 0 of a tree is its element n - 1
  std::vector<uint8_t> features;  // columns of the same nodes
  std::vector<Place> places;      // node 2^levels of a tree and further
  // Below: levels at most, of each tree levels and nodes; of all nodes the threshold and the two children.
  int64_t levels_below = 0;
  std::vector<int64_t> depths_below, counts;
  std::vector<int32_t> below;
  std::vector<Place> children;
  int column_bits = 0;  // of columns below

  int64_t nodes() const { return (int64_t{1} << levels) - 1; }  // of the first levels of a tree
  // A place below as a whole number >= 0; of leaves that is the caller's to say.
  int64_t code(const Place& node) const { return node.index << column_bits | node.column; }
};

// As many of the first levels as the flash that is allowed gives; nothing where nodes that say where their children are
// (lower.cpp) take much less of it.
std::optional<Heap> heap_of(const Tables& t, const TargetInfo& target);
// Bytes of those.
int64_t chain_bytes(const Tables& t);

Lowered lower_heap(const OpView& op, const Tables& tables, const Heap& heap, const TargetInfo& target);

}  // namespace aotc::ops::trees
