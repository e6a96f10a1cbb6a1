// SPDX-License-Identifier: Apache-2.0
// The walk through trees with all of their nodes (target/arm/dsp/trees.h).
#include "target/arm/dsp/assembly.h"
#include "target/arm/dsp/trees.h"
#include "target/arm/thumb.h"

namespace aotc::target::arm {

namespace {

constexpr Reg kWords = r0, kLeaves = r1, kKeys = r2, kOut = r3, kTrees = r4, kColumns = r5, kLeafOf = r6, kOne = r7,
              kNode = r8, kWord = r9, kKey = r10, kStride = r11;

// From the node that a walk is at to one of its children.
void choose(Thumb& a, Reg from) {
  a.ldr_index(kKey, kKeys, kKey, 2);
  a.cmp(kWord, kKey);
  a.adc(kNode, from, from);
}

}  // namespace

// r0 blocks, r1 leaves, r2 keys, r3 out.
Implementation tree_sums(const tir::Kernel& kernel) {
  const int values = parameter(kernel, "values");
  const TreeBlock block{parameter(kernel, "levels")};
  const int count = static_cast<int>(block.nodes() + 1);
  Thumb a;
  Label more = a.label();
  a.enter(0);
  a.ldr(kTrees, kWords);  // and nodes count from 1
  a.mov32(kColumns, static_cast<uint32_t>(4 + 4 * block.columns()));
  a.add(kColumns, kColumns, kWords);
  a.mov32(kLeafOf, static_cast<uint32_t>(4 + 4 * block.leaves() - 2 * count));  // leaves from behind the last node
  a.add(kLeafOf, kLeafOf, kWords);
  a.mov32(kStride, static_cast<uint32_t>(4 * block.words()));
  a.mov(kOne, 0);
  for (int v = 0; v < values; ++v) a.vmov(v, kOne);
  a.mov(kOne, 1);
  a.bind(more);
  a.ldrb(kKey, kColumns, 1);
  a.ldr(kWord, kWords, 4);
  choose(a, kOne);
  a.repeat(static_cast<int>(block.levels) - 1, [&] {
    a.ldrb_index(kKey, kColumns, kNode);
    a.ldr_index(kWord, kWords, kNode, 2);
    choose(a, kNode);
  });
  a.ldrh_index(kNode, kLeafOf, kNode, 1);
  a.add_lsl(kNode, kLeaves, kNode, 2);
  a.vldm(kNode, TreeBlock::kMostValues, values);
  for (int v = 0; v < values; ++v) a.vadd(v, v, TreeBlock::kMostValues + v);
  for (Reg moves : {kWords, kColumns, kLeafOf}) a.add(moves, moves, kStride);
  a.subs(kTrees, kTrees, 1);
  a.b("ne", more);
  a.vstm(kOut, 0, values);
  a.leave();
  return a.finish();
}

}  // namespace aotc::target::arm
