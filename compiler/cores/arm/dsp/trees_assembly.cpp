// SPDX-License-Identifier: Apache-2.0
// The walk through trees whose first levels have all of their nodes (cores/arm/dsp/trees.h).
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/trees.h"
#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

namespace {

constexpr Reg kWords = r0, kLeaves = r1, kKeys = r2, kOut = r3, kValues = r3, kTrees = r4, kColumns = r5,
              kColumnPlaces = r6, kOne = r7, kNode = r8, kWord = r9, kKey = r10, kStride = r11, kChildren = r12,
              kThresholds = lr;

// From the node that a walk is at to one of its children.
void choose(Thumb& a, Reg from) {
  a.ldr_index(kKey, kKeys, kKey, 2);
  a.cmp(kWord, kKey);
  a.adc(kNode, from, from);
}

void add_bytes(Thumb& a, Reg d, int64_t bytes) {
  a.mov32(d, static_cast<uint32_t>(bytes));
  a.add(d, d, kWords);
}

// Through the first levels: kNode is a node of the level behind them.
void top(Thumb& a, const TreeBlock& block) {
  a.ldrb(kKey, kColumns, 1);
  a.ldr(kWord, kWords, 4);
  choose(a, kOne);
  a.repeat(static_cast<int>(block.levels) - 1, [&] {
    a.ldrb_index(kKey, kColumns, kNode);
    a.ldr_index(kWord, kWords, kNode, 2);
    choose(a, kNode);
  });
}

// From there to a leaf: kWord is its place.
void below(Thumb& a, int levels, int column_bits) {
  Label more = a.label(), leaf = a.label();
  auto split = [&] {  // sets flags: negative for a leaf
    a.and_(kKey, kWord, (1 << column_bits) - 1);
    a.asrs(kNode, kWord, column_bits);
  };
  a.ldrsh_index(kWord, kColumnPlaces, kNode, 1);
  split();
  a.b_at_most("mi", leaf, 0);
  a.bind(more);
  a.ldr_index(kWord, kThresholds, kNode, 2);
  choose(a, kNode);
  a.ldrsh_index(kWord, kChildren, kNode, 1);
  split();
  a.b_at_most("pl", more, levels - 1);
  a.bind(leaf);
}

// s8 and further are the values of the leaf whose place is kWord; of shared ones kLeaves has the places, and r3 the
// values.
void read_leaf(Thumb& a, int values, bool shared) {
  a.add_lsl(kNode, kLeaves, kWord, shared ? 1 : 2);
  if (!shared) return a.vldm(kNode, TreeBlock::kMostValues, values);
  for (int v = 0; v < values; ++v) {
    a.ldrh_after(kWord, kNode, 2);
    a.add_lsl(kWord, kValues, kWord, 2);
    a.vldm(kWord, TreeBlock::kMostValues + v, 1);
  }
}

// What the table's word says is an address.
void from_table(Thumb& a, Reg d, int64_t word) {
  a.ldr(d, kWords, static_cast<int>(4 * word));
  a.add(d, d, kWords);
}

void begin(Thumb& a, const TreeBlock& block, const TreeTable& table) {
  const int64_t first = 4 * (table.header() - (block.below ? 0 : 1));  // of a block, whose nodes count from 1
  a.ldr(kTrees, kWords);
  if (table.shared) {
    a.str(kOut, sp);
    a.mov(kValues, kLeaves);
    from_table(a, kLeaves, table.values_at());
  }
  if (block.below) {
    from_table(a, kThresholds, table.below_at());
    from_table(a, kChildren, table.children_at());
    a.add(kLeaves, kLeaves, 32768 * (table.shared ? 2 : 4));
  }
  add_bytes(a, kColumns, first + 4 * block.columns());
  add_bytes(a, kColumnPlaces, first + 4 * block.places() - 2 * (block.nodes() + 1));  // from behind the last node
  if (first > 0) a.add(kWords, kWords, static_cast<int>(first));
  a.mov32(kStride, static_cast<uint32_t>(4 * block.stride()));
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
  a.mov(kOne, 0);
  for (int v = 0; v < values; ++v) a.vmov(v, kOne);
  a.mov(kOne, 1);
  a.bind(more);
  top(a, block);
  if (block.below) below(a, parameter(kernel, "below"), parameter(kernel, "bits"));
  else a.ldrh_index(kWord, kColumnPlaces, kNode, 1);
  read_leaf(a, values, table.shared);
  for (int v = 0; v < values; ++v) a.vadd(v, v, TreeBlock::kMostValues + v);
  if (block.below) {
    a.ldr(kNode, kWords);
    for (Reg moves : {kThresholds, kChildren}) a.add(moves, moves, kNode);
  }
  for (Reg moves : {kWords, kColumns, kColumnPlaces}) a.add(moves, moves, kStride);
  a.subs(kTrees, kTrees, 1);
  a.b("ne", more);
  if (table.shared) a.ldr(kOut, sp);
  a.vstm(kOut, 0, values);
  a.leave();
  return a.finish();
}

}  // namespace aotc::cores::arm
