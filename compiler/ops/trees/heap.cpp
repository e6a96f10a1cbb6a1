// SPDX-License-Identifier: Apache-2.0
#include "ops/trees/heap.h"

#include <algorithm>

namespace aotc::ops::trees {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kMostLevels = 10;  // each is written out

// Puts node `from` of the tables at node `n` of a tree that has `levels` levels below it.
void fill(Heap& heap, const Tables& t, int64_t tree, int64_t n, int64_t from, int64_t levels) {
  const Node node = t.node(from);
  if (levels == 0) {
    heap.leaves[static_cast<size_t>(tree * (heap.nodes() + 1) + n - (heap.nodes() + 1))] = node.index;
    return;
  }
  const bool leaf = node.skip == 0;
  if (!leaf) {
    const auto at = static_cast<size_t>(tree * heap.nodes() + n - 1);
    heap.words[at] = key_of(t.thresholds[static_cast<size_t>(node.index)]);
    heap.features[at] = static_cast<uint8_t>(node.column);
  }
  fill(heap, t, tree, 2 * n + 1, leaf ? from : from + 1, levels - 1);
  fill(heap, t, tree, 2 * n, leaf ? from : from + node.skip, levels - 1);
}

// In hundredths of what nodes that say where their children are take.
int64_t most_flash(const TargetInfo& target) {
  if (target.harvard) return 0;
  return target.level == Level::kSpeed ? 200 : target.level == Level::kBalanced ? 125 : 100;
}

class HeapLowering final : public EnsembleLowering {
 public:
  HeapLowering(const OpView& op, const Tables& tables, const Heap& heap)
      : EnsembleLowering(op, tables), heap_(heap) {
    make_keys(false);
    words_ = f_.constant("words", DType::kI32, heap.words);
    columns_ = f_.constant("columns", DType::kU8, heap.features, 1);
    leaf_of_ = narrow_table(f_, "leaf_of", heap.leaves);
  }

  Lowered finish() {
    rows([&](const Ex&) {
      sum([&](auto add) {
        f_.loop("tree", 0, t_.tree_count(), [&](const Ex& tree) { add(tree, leaf(tree)); });
      });
    });
    return f_.finish("level by level, in order of whole numbers");
  }

 private:
  Ex leaf(const Ex& tree) {
    Ex first = f_.let("first", tree * heap_.nodes() - 1);
    Ex node = f_.var("node", 1);
    for (int64_t level = 0; level < heap_.levels; ++level) {
      Ex at = level == 0 ? f_.let("at", tree * heap_.nodes()) : f_.let("at", first + node);
      f_.assign(node, node + node + (load(keys_, load(columns_, at)) <= load(words_, at)));
    }
    return load(leaf_of_, tree * (heap_.nodes() + 1) + (node - (heap_.nodes() + 1)));
  }

  const Heap& heap_;
  BufferPtr words_, columns_, leaf_of_;
};

}  // namespace

std::optional<Heap> heap_of(const Tables& t, const TargetInfo& target) {
  const std::vector<int64_t> depths = depths_of(t);
  Heap out;
  out.levels = *std::max_element(depths.begin(), depths.end());
  if (out.levels < 1 || out.levels > kMostLevels || t.column_count() > 256) return std::nullopt;
  const int64_t leaves = t.tree_count() * (out.nodes() + 1);
  const int64_t bytes = t.tree_count() * out.nodes() * 5 + leaves * narrow_bytes(t.leaf_count() - 1);
  if (bytes * 100 > chain_bytes(t) * most_flash(target)) return std::nullopt;
  out.words.resize(static_cast<size_t>(t.tree_count() * out.nodes()));
  out.features.resize(out.words.size());
  out.leaves.resize(static_cast<size_t>(leaves));
  for (int64_t tree = 0; tree < t.tree_count(); ++tree) fill(out, t, tree, 1, t.root(tree), out.levels);
  return out;
}

Lowered lower_heap(const OpView& op, const Tables& tables, const Heap& heap) {
  return HeapLowering(op, tables, heap).finish();
}

}  // namespace aotc::ops::trees
