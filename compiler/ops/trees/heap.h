// SPDX-License-Identifier: Apache-2.0
// Trees with all of their nodes, level by level: the children of node n are 2n and 2n + 1, so that a step is a
// comparison and a sum. The one thing to know: the second child is where a walk goes on if the feature is at most the
// threshold, and what hangs below a leaf is that leaf again.
#pragma once

#include <optional>

#include "ops/trees/ensemble.h"

namespace aotc::ops::trees {

struct Heap {
  int64_t levels = 0;
  std::vector<int32_t> words;     // thresholds as whole numbers; node n > 0 of a tree is its element n - 1
  std::vector<uint8_t> features;  // columns of the same nodes
  std::vector<int64_t> leaves;    // the leaf that a walk comes to at node 2^levels and further
  int64_t nodes() const { return (int64_t{1} << levels) - 1; }  // of a tree
};

// Nothing where it takes much more flash than nodes that say where their children are.
std::optional<Heap> heap_of(const Tables& t, const TargetInfo& target);
// Bytes of those (lower.cpp).
int64_t chain_bytes(const Tables& t);

Lowered lower_heap(const OpView& op, const Tables& tables, const Heap& heap);

}  // namespace aotc::ops::trees
