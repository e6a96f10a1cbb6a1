// SPDX-License-Identifier: Apache-2.0
// The tables of tree_ensemble, read. The one thing to know: `verify` has seen that no node leads
// outside.
#pragma once

#include <span>

#include "ops/lowering.h"
#include "ops/operator.h"

namespace aotc::ops::trees {

inline constexpr size_t kColumns = 1, kThresholds = 2, kNodes = 3, kTrees = 4, kLeaves = 5;

struct Node {
  int64_t column, skip, index;
};

struct Tables {
  std::span<const int32_t> columns, nodes, trees;
  std::span<const float> thresholds, leaves;
  int64_t values = 1;  // of a leaf

  int64_t column_count() const { return static_cast<int64_t>(columns.size()) / 2; }
  int64_t node_count() const { return static_cast<int64_t>(nodes.size()) / 3; }
  int64_t tree_count() const { return static_cast<int64_t>(trees.size()) / 2; }
  int64_t leaf_count() const { return values == 0 ? 0 : static_cast<int64_t>(leaves.size()) / values; }

  int64_t feature(int64_t column) const { return columns[static_cast<size_t>(2 * column)]; }
  bool nan_is_next(int64_t column) const { return columns[static_cast<size_t>(2 * column + 1)] != 0; }
  Node node(int64_t i) const {
    const auto at = static_cast<size_t>(3 * i);
    return {nodes[at], nodes[at + 1], nodes[at + 2]};
  }
  int64_t root(int64_t tree) const { return trees[static_cast<size_t>(2 * tree)]; }
  int64_t target(int64_t tree) const { return trees[static_cast<size_t>(2 * tree + 1)]; }
};

Tables tables_of(const OpView& op);

Lowered lower(const OpView& op, const TargetInfo& target);

}  // namespace aotc::ops::trees
