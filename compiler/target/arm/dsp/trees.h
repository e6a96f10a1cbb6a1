// SPDX-License-Identifier: Apache-2.0
// Decision trees with all of their nodes (ops/trees/heap.h), five instructions a level: two loads, the feature's key,
// a comparison, and a sum that takes the comparison's carry in. For cores with an FPU, which adds what leaves hold.
#pragma once

#include "ops/lowering.h"
#include "ops/trees/heap.h"
#include "tir/builder.h"

namespace aotc::target::arm {

// Where parts of a tree are in the words of the kernel's table, whose first is the number of trees. Thresholds are
// numbers without a sign.
struct TreeBlock {
  static constexpr int kMostValues = 8;  // of a leaf: they stay in registers
  int64_t levels;
  int64_t nodes() const { return (int64_t{1} << levels) - 1; }
  int64_t columns() const { return nodes(); }  // bytes, the first of which is of no node
  int64_t leaves() const { return columns() + std::max<int64_t>(1, (nodes() + 1) / 4); }  // halfwords: word of `leaves`
  int64_t words() const { return leaves() + (nodes() + 1) / 2; }
};

// Nothing where leaves are too many for halfwords.
std::optional<std::vector<int32_t>> tree_blocks(const ops::trees::Heap& heap, int64_t trees, int64_t values);

// (blocks, leaves, keys, out): out[v] = the sum of value v of the leaves that the trees come to, from the first on.
tir::KernelPtr tree_sums_kernel(int64_t levels, int64_t values);

}  // namespace aotc::target::arm
