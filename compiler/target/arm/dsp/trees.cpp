// SPDX-License-Identifier: Apache-2.0
// tree_ensemble of trees with all of their nodes, walked by a kernel.
#include "target/arm/dsp/trees.h"

#include <limits>

#include "target/arm/dsp/lowerings.h"

namespace aotc::target::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kSign = std::numeric_limits<int32_t>::min();

}  // namespace

std::optional<std::vector<int32_t>> tree_blocks(const trees::Heap& heap, int64_t trees, int64_t values) {
  const TreeBlock block{heap.levels};
  std::vector<int32_t> out = {static_cast<int32_t>(trees)};
  out.resize(static_cast<size_t>(1 + trees * block.words()));
  auto add = [&](int64_t tree, int64_t word, uint32_t bits) {
    auto& to = out[static_cast<size_t>(1 + tree * block.words() + word)];
    to = static_cast<int32_t>(static_cast<uint32_t>(to) | bits);
  };
  for (int64_t tree = 0; tree < trees; ++tree) {
    for (int64_t n = 1; n <= heap.nodes(); ++n) {
      const auto at = static_cast<size_t>(tree * heap.nodes() + n - 1);
      add(tree, n - 1, static_cast<uint32_t>(heap.words[at] ^ kSign));
      add(tree, block.columns() + n / 4, uint32_t{heap.features[at]} << 8 * (n % 4));
    }
    for (int64_t n = 0; n <= heap.nodes(); ++n) {
      const int64_t leaf = heap.leaves[static_cast<size_t>(tree * (heap.nodes() + 1) + n)] * values;
      if (leaf > std::numeric_limits<uint16_t>::max()) return std::nullopt;
      add(tree, block.leaves() + n / 2, static_cast<uint32_t>(leaf) << 16 * (n % 2));
    }
  }
  return out;
}

tir::KernelPtr tree_sums_kernel(int64_t levels, int64_t values) {
  const TreeBlock block{levels};
  tir::FunctionBuilder f("tree_sums");
  BufferPtr blocks = f.constant("blocks", DType::kI32, 0);
  BufferPtr leaves = f.constant("leaves", DType::kF32, 0);
  BufferPtr keys = f.input("keys", DType::kI32, 0);
  BufferPtr out = f.output("out", DType::kF32, 0);
  for (int64_t v = 0; v < values; ++v) f.store(out, v, tir::f32(0.0f));
  f.loop("tree", 0, load(blocks, 0), [&](const Ex& tree) {
    Ex first = f.let("first", tree * block.words() + 1);
    Ex node = f.var("node", 1);
    f.loop("level", 0, levels, [&](const Ex&) {
      Ex column = load(blocks, first + block.columns() + (node >> 2)) >> ((node & 3) << 3) & 255;
      Ex key = f.let("key", load(keys, column)), word = f.let("word", load(blocks, first + node - 1));
      f.assign(node, node + node + ((key ^ kSign) <= (word ^ kSign)));
    });
    Ex n = f.let("n", node - (block.nodes() + 1));
    Ex leaf = f.let("leaf", load(blocks, first + block.leaves() + (n >> 1)) >> ((n & 1) << 4) & 65535);
    for (int64_t v = 0; v < values; ++v) {
      Ex so_far = f.let("so_far", load(out, v));
      f.store(out, v, so_far + load(leaves, leaf + v));
    }
  });
  return f.finish_kernel("tree_sums", {{"levels", levels}, {"values", values}});
}

namespace {

class TreeSumsLowering final : public trees::EnsembleLowering {
 public:
  using EnsembleLowering::EnsembleLowering;

  bool applies() const { return t_.values == targets_ && targets_ <= TreeBlock::kMostValues; }

  Lowered run(int64_t levels, const std::vector<int32_t>& blocks) {
    make_keys(true);
    BufferPtr table = f_.constant("trees", DType::kI32, blocks);
    rows([&](const Ex& row) {
      f_.run(tree_sums_kernel(levels, targets_),
             {address(table, 0), address(leaves_, 0), address(keys_, 0), address(out_, row * targets_)});
    });
    return f_.finish("level by level, in order of whole numbers");
  }
};

}  // namespace

bool is_tree_sums(const OpView&, const TargetInfo& target) { return target.fpu; }

std::optional<Lowered> lower_trees_dsp(const OpView& op, const TargetInfo& target) {
  const trees::Tables tables = trees::tables_of(op);
  TreeSumsLowering lowering(op, tables);
  if (!lowering.applies()) return std::nullopt;
  const std::optional<trees::Heap> heap = trees::heap_of(tables, target);
  if (!heap) return std::nullopt;
  const auto blocks = tree_blocks(*heap, tables.tree_count(), tables.values);
  if (!blocks) return std::nullopt;
  return lowering.run(heap->levels, *blocks);
}

}  // namespace aotc::target::arm
