// SPDX-License-Identifier: Apache-2.0
// The walk through trees whose first levels have all of their nodes (cores/arm/dsp/trees.h).
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/trees.h"
#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

namespace {

constexpr Reg kTreeWords = r0, kTreeLeaves = r1, kTreeKeys = r2, kTreeOut = r3, kTreeValues = r3, kTrees = r4,
              kTreeColumns = r5, kTreeColumnPlaces = r6, kTreeOne = r7, kTreeNode = r8, kTreeWord = r9, kTreeKey = r10,
              kTreeStride = r11, kTreeChildren = r12, kTreeThresholds = lr;

// From the node that a walk is at to one of its children.
void choose(Thumb& a, Reg from) {
  a.ldr_index(kTreeKey, kTreeKeys, kTreeKey, 2);
  a.cmp(kTreeWord, kTreeKey);
  a.adc(kTreeNode, from, from);
}

void add_bytes(Thumb& a, Reg d, int64_t bytes) {
  a.mov32(d, static_cast<uint32_t>(bytes));
  a.add(d, d, kTreeWords);
}

// Through the first levels: kTreeNode is a node of the level behind them.
void top(Thumb& a, const TreeBlock& block) {
  a.ldrb(kTreeKey, kTreeColumns, 1);
  a.ldr(kTreeWord, kTreeWords, 4);
  choose(a, kTreeOne);
  a.repeat(static_cast<int>(block.levels) - 1, [&] {
    a.ldrb_index(kTreeKey, kTreeColumns, kTreeNode);
    a.ldr_index(kTreeWord, kTreeWords, kTreeNode, 2);
    choose(a, kTreeNode);
  });
}

// From there to a leaf: kTreeWord is its place.
void below(Thumb& a, int levels, int column_bits) {
  Label more = a.label(), leaf = a.label();
  auto split = [&] {  // sets flags: negative for a leaf
    a.and_(kTreeKey, kTreeWord, (1 << column_bits) - 1);
    a.asrs(kTreeNode, kTreeWord, column_bits);
  };
  a.ldrsh_index(kTreeWord, kTreeColumnPlaces, kTreeNode, 1);
  split();
  a.b_at_most("mi", leaf, 0);
  a.bind(more);
  a.ldr_index(kTreeWord, kTreeThresholds, kTreeNode, 2);
  choose(a, kTreeNode);
  a.ldrsh_index(kTreeWord, kTreeChildren, kTreeNode, 1);
  split();
  a.b_at_most("pl", more, levels - 1);
  a.bind(leaf);
}

// s8 and further are the values of the leaf whose place is kTreeWord; of shared ones kTreeLeaves has the places, and r3
// the values.
void read_leaf(Thumb& a, int values, bool shared) {
  a.add_lsl(kTreeNode, kTreeLeaves, kTreeWord, shared ? 1 : 2);
  if (!shared) return a.vldm(kTreeNode, TreeBlock::kMostValues, values);
  for (int v = 0; v < values; ++v) {
    a.ldrh_after(kTreeWord, kTreeNode, 2);
    a.add_lsl(kTreeWord, kTreeValues, kTreeWord, 2);
    a.vldm(kTreeWord, TreeBlock::kMostValues + v, 1);
  }
}

// What the table's word says is an address.
void from_table(Thumb& a, Reg d, int64_t word) {
  a.ldr(d, kTreeWords, static_cast<int>(4 * word));
  a.add(d, d, kTreeWords);
}

void begin(Thumb& a, const TreeBlock& block, const TreeTable& table) {
  const int64_t first = 4 * (table.header() - (block.below ? 0 : 1));  // of a block, whose nodes count from 1
  a.ldr(kTrees, kTreeWords);
  if (table.shared) {
    a.str(kTreeOut, sp);
    a.mov(kTreeValues, kTreeLeaves);
    from_table(a, kTreeLeaves, table.values_at());
  }
  if (block.below) {
    from_table(a, kTreeThresholds, table.below_at());
    from_table(a, kTreeChildren, table.children_at());
    a.add(kTreeLeaves, kTreeLeaves, 32768 * (table.shared ? 2 : 4));
  }
  add_bytes(a, kTreeColumns, first + 4 * block.columns());
  add_bytes(a, kTreeColumnPlaces, first + 4 * block.places() - 2 * (block.nodes() + 1));  // from behind the last node
  if (first > 0) a.add(kTreeWords, kTreeWords, static_cast<int>(first));
  a.mov32(kTreeStride, static_cast<uint32_t>(4 * block.stride()));
}

}  // namespace

// r0 table, r1 leaves, r2 keys, r3 out.
Implementation tree_sums(const tir::Kernel& kernel) {
  const int values = parameter(kernel, "values");
  const TreeBlock block{parameter(kernel, "levels"), parameter(kernel, "below") > 0};
  const TreeTable table{block.below, parameter(kernel, "shared") != 0};
  Thumb a;
  Label more = a.label();
  a.enter(table.shared ? 4 : 0);
  begin(a, block, table);
  a.mov(kTreeOne, 0);
  for (int v = 0; v < values; ++v) a.vmov(v, kTreeOne);
  a.mov(kTreeOne, 1);
  a.bind(more);
  top(a, block);
  if (block.below) below(a, parameter(kernel, "below"), parameter(kernel, "bits"));
  else a.ldrh_index(kTreeWord, kTreeColumnPlaces, kTreeNode, 1);
  read_leaf(a, values, table.shared);
  for (int v = 0; v < values; ++v) a.vadd(v, v, TreeBlock::kMostValues + v);
  if (block.below) {
    a.ldr(kTreeNode, kTreeWords);
    for (Reg moves : {kTreeThresholds, kTreeChildren}) a.add(moves, moves, kTreeNode);
  }
  for (Reg moves : {kTreeWords, kTreeColumns, kTreeColumnPlaces}) a.add(moves, moves, kTreeStride);
  a.subs(kTrees, kTrees, 1);
  a.b("ne", more);
  if (table.shared) a.ldr(kTreeOut, sp);
  a.vstm(kTreeOut, 0, values);
  a.leave();
  return a.finish();
}

}  // namespace aotc::cores::arm
