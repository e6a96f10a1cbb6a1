// SPDX-License-Identifier: Apache-2.0
// Decision trees whose first levels have all of their nodes (ops/trees/heap.h), five instructions a level: two loads,
// the feature's key, a comparison, and a sum that takes the comparison's carry in; eight a level below. For cores with
// an FPU, which adds what leaves hold.
#pragma once

#include "ops/lowering.h"
#include "ops/trees/heap.h"
#include "tir/builder.h"

namespace aotc::cores::arm {

// Where parts of a tree's first levels are in the words of the kernel's table. Thresholds are numbers without a sign.
struct TreeBlock {
  static constexpr int kMostValues = 8;  // of a leaf: they stay in registers
  int64_t levels;
  bool below;  // word 0 of a block is then 4 times the number of nodes below; else a block has no word 0
  int64_t nodes() const { return (int64_t{1} << levels) - 1; }
  int64_t columns() const { return nodes() + 1; }  // bytes, the first of which is of no node
  int64_t places() const { return columns() + std::max<int64_t>(1, (nodes() + 1) / 4); }  // halfwords
  int64_t end() const { return places() + (nodes() + 1) / 2; }
  int64_t stride() const { return below ? end() : end() - 1; }
};

// The kernel's table: the number of trees; where there are, how many bytes on from there thresholds and children of
// nodes below and places of values are; the blocks, and these. A place that is a leaf has the place of its first value,
// less 32768 with nodes below.
struct TreeTable {
  bool below, shared;                     // values of leaves
  int64_t below_at() const { return 1; }  // words
  int64_t children_at() const { return 2; }
  int64_t values_at() const { return below ? 3 : 1; }
  int64_t header() const { return values_at() + (shared ? 1 : 0); }
};
// Nothing where places are too many for halfwords.
std::optional<std::vector<int32_t>> tree_table(const ops::trees::Heap& heap, int64_t trees, int64_t values,
                                               const std::optional<ops::trees::SharedValues>& shared);

// (table, leaves, keys, out): out[v] = the sum of value v of the leaves that the trees come to, from the first on. With
// `shared`, leaves are values each of which is there once.
tir::KernelPtr tree_sums_kernel(const ops::trees::Heap& heap, int64_t values, bool shared);

}  // namespace aotc::cores::arm
