// SPDX-License-Identifier: Apache-2.0
#include "ops/trees/heap.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace aotc::ops::trees {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kMostLevels = 10;                                     // each is written out
constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 1000;  // bytes

// Nodes of every tree by level, those of level kMostLevels and further together.
class Counts {
 public:
  explicit Counts(const Tables& t) : counts_(static_cast<size_t>(t.tree_count() * (kMostLevels + 1))) {
    std::vector<int> readers(static_cast<size_t>(t.node_count()));
    std::vector<int64_t> level(readers.size()), tree(readers.size(), -1);
    auto lead = [&](int64_t to, int64_t at_level, int64_t of_tree) {
      const auto i = static_cast<size_t>(to);
      apart_ = apart_ && ++readers[i] == 1;
      level[i] = at_level, tree[i] = of_tree;
    };
    for (int64_t i = 0; i < t.tree_count(); ++i) lead(t.root(i), 0, i);
    for (int64_t i = 0; i < t.node_count() && apart_; ++i) {
      const Node n = t.node(i);
      const int64_t at = level[static_cast<size_t>(i)], of = tree[static_cast<size_t>(i)];
      if (n.skip == 0 || of < 0) continue;
      ++counts_[static_cast<size_t>(of * (kMostLevels + 1) + std::min(at, kMostLevels))];
      lead(i + 1, at + 1, of);
      lead(i + n.skip, at + 1, of);
    }
  }
  // No node has two ways to it.
  bool apart() const { return apart_; }
  // Nodes of the tree from the level on.
  int64_t from(int64_t tree, int64_t level) const {
    int64_t out = 0;
    for (int64_t l = level; l <= kMostLevels; ++l) out += counts_[static_cast<size_t>(tree * (kMostLevels + 1) + l)];
    return out;
  }

 private:
  std::vector<int64_t> counts_;
  bool apart_ = true;
};

int column_bits_of(const Tables& t) {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(t.column_count() - 1)));
}

// Bytes of a place of which some are nodes below.
int64_t place_bytes(int64_t leaves, int64_t nodes, int column_bits) {
  constexpr int64_t kMost = std::numeric_limits<int16_t>::max();
  return leaves <= kMost + 1 && nodes << column_bits <= kMost + 1 ? 2 : 4;
}

// Flash of trees with so many first levels.
int64_t bytes_of(const Tables& t, const Counts& counts, int64_t levels, bool below) {
  const int64_t nodes = int64_t{1} << levels;
  const int64_t top = t.tree_count() * (nodes - 1) * 5;
  if (!below) return top + t.tree_count() * nodes * narrow_bytes(t.leaf_count() - 1);
  int64_t all = 0, most = 0;
  for (int64_t tree = 0; tree < t.tree_count(); ++tree) {
    const int64_t here = counts.from(tree, levels);
    all += here;
    most = std::max(most, here);
  }
  if (most << column_bits_of(t) > std::numeric_limits<int32_t>::max()) return kNever;
  const int64_t place = place_bytes(t.leaf_count(), most, column_bits_of(t));
  return top + t.tree_count() * (nodes * place + narrow_bytes(all)) + all * (4 + 2 * place);
}

// In hundredths of the least that any form takes.
int64_t most_flash(const TargetInfo& target) {
  return target.level == Level::kSpeed ? 200 : target.level == Level::kBalanced ? 110 : 100;
}

// How many first levels; nothing where the chain is to be taken.
std::optional<int64_t> levels_of(const Tables& t, const TargetInfo& target, int64_t depth) {
  const Counts counts(t);
  const int64_t least_levels = target.harvard ? 0 : 1;  // reading words of programs costs more than it saves
  const int64_t most_levels = target.harvard ? 0 : std::min(depth, kMostLevels);
  std::vector<std::pair<int64_t, int64_t>> all;  // bytes, levels
  for (int64_t levels = least_levels; levels <= most_levels; ++levels)
    if (levels == depth || counts.apart()) all.emplace_back(bytes_of(t, counts, levels, levels < depth), levels);
  if (all.empty()) return std::nullopt;
  const int64_t least = std::min(chain_bytes(t), std::min_element(all.begin(), all.end())->first);
  std::optional<int64_t> out;
  for (auto [bytes, levels] : all)
    if (bytes * 100 <= least * most_flash(target)) out = levels;
  return out;
}

class Filler {
 public:
  Filler(const Tables& t, Heap& heap) : t_(t), heap_(heap) {}

  void tree(int64_t tree) {
    tree_ = tree;
    const size_t before = heap_.below.size();
    fill(1, t_.root(tree), heap_.levels);
    for (size_t i = 0; i < left_.size(); ++i) {  // grows
      const int64_t node = left_[i];
      heap_.below.push_back(threshold(node));
      heap_.children.push_back(place(node + t_.node(node).skip));
      heap_.children.push_back(place(node + 1));
    }
    left_.clear();
    heap_.counts.push_back(static_cast<int64_t>(heap_.below.size() - before));
  }

 private:
  int32_t threshold(int64_t node) const { return key_of(t_.thresholds[static_cast<size_t>(t_.node(node).index)]); }

  Place place(int64_t node) {
    const Node n = t_.node(node);
    if (n.skip == 0) return {true, n.index, 0};
    left_.push_back(node);
    return {false, static_cast<int64_t>(left_.size()) - 1, n.column};
  }

  // Puts node `from` of the tables at node `n` of the tree, with so many levels below it.
  void fill(int64_t n, int64_t from, int64_t levels) {
    if (levels == 0) {
      const int64_t count = heap_.nodes() + 1;
      heap_.places[static_cast<size_t>(tree_ * count + n - count)] = place(from);
      return;
    }
    const Node node = t_.node(from);
    const bool leaf = node.skip == 0;
    if (!leaf) {
      const auto at = static_cast<size_t>(tree_ * heap_.nodes() + n - 1);
      heap_.words[at] = threshold(from);
      heap_.features[at] = static_cast<uint8_t>(node.column);
    }
    fill(2 * n + 1, leaf ? from : from + 1, levels - 1);
    fill(2 * n, leaf ? from : from + node.skip, levels - 1);
  }

  const Tables& t_;
  Heap& heap_;
  int64_t tree_ = 0;
  std::vector<int64_t> left_;  // nodes below, in their order
};

// Places as numbers: leaves are below 0 where some are none.
BufferPtr table_of(LoweringBuilder& f, const std::string& name, const Heap& heap, const std::vector<Place>& places,
                   int64_t bytes) {
  std::vector<int64_t> codes;
  for (const Place& p : places)
    codes.push_back(!p.leaf ? heap.code(p) : heap.levels_below > 0 ? -1 - p.index : p.index);
  if (heap.levels_below == 0) return narrow_table(f, name, codes);
  if (bytes == 2) return f.constant(name, DType::kI16, std::vector<int16_t>(codes.begin(), codes.end()), 2);
  return f.constant(name, DType::kI32, std::vector<int32_t>(codes.begin(), codes.end()));
}

class HeapLowering final : public EnsembleLowering {
 public:
  HeapLowering(const OpView& op, const Tables& tables, const Heap& heap, const TargetInfo& target)
      : EnsembleLowering(op, tables, shared_values(tables, target, 1)), heap_(heap) {
    make_keys(false);
    if (heap.levels > 0) {
      words_ = f_.constant("words", DType::kI32, heap.words);
      columns_ = f_.constant("columns", DType::kU8, heap.features, 1);
    }
    const int64_t most = heap.counts.empty() ? 0 : *std::max_element(heap.counts.begin(), heap.counts.end());
    const int64_t place = place_bytes(tables.leaf_count(), most, heap.column_bits);
    places_ = table_of(f_, heap.levels_below > 0 ? "places" : "leaf_of", heap, heap.places, place);
    if (heap.levels_below == 0) return;
    below_ = f_.constant("below", DType::kI32, heap.below);
    children_ = table_of(f_, "children", heap, heap.children, place);
    const bool same =
        std::count(heap.depths_below.begin(), heap.depths_below.end(), heap.levels_below) == t_.tree_count();
    if (!same) depths_ = narrow_table(f_, "levels", heap.depths_below);
    int64_t first = 0;
    firsts_ = narrow_table(f_, "firsts", list_of(t_.tree_count(), [&](int64_t tree) {
                             return std::exchange(first, first + heap.counts[static_cast<size_t>(tree)]);
                           }));
  }

  Lowered finish() {
    rows([&](const Ex&) {
      sum([&](auto add) { f_.loop("tree", 0, t_.tree_count(), [&](const Ex& tree) { add(tree, leaf(tree)); }); });
    });
    return f_.finish("level by level, in order of whole numbers");
  }

 private:
  Ex leaf(const Ex& tree) {
    Ex at = heap_.levels == 0 ? tree : top(tree);
    return heap_.levels_below == 0 ? load(places_, at) : below(tree, load(places_, at));
  }

  Ex top(const Ex& tree) {
    Ex first = f_.let("first", tree * heap_.nodes() - 1);
    Ex node = f_.var("node", 1);
    for (int64_t level = 0; level < heap_.levels; ++level) {
      Ex at = level == 0 ? f_.let("at", tree * heap_.nodes()) : f_.let("at", first + node);
      f_.assign(node, node + node + (load(keys_, load(columns_, at)) <= load(words_, at)));
    }
    return tree * (heap_.nodes() + 1) + (node - (heap_.nodes() + 1));
  }

  Ex below(const Ex& tree, const Ex& from) {
    Ex place = f_.var("place", from);
    Ex first = f_.let("first_below", load(firsts_, tree));
    f_.loop("level", 0, depths_ ? load(depths_, tree) : Ex(heap_.levels_below), [&](const Ex&) {
      f_.if_(place >= 0, [&] {
        Ex node = f_.let("node", first + (place >> heap_.column_bits));
        Ex column = place & ((int64_t{1} << heap_.column_bits) - 1);
        f_.assign(place, load(children_, node + node + (load(keys_, column) <= load(below_, node))));
      });
    });
    return f_.let("leaf", Ex(-1) - place);
  }

  const Heap& heap_;
  BufferPtr words_, columns_, places_, firsts_, depths_, below_, children_;
};

}  // namespace

std::optional<Heap> heap_of(const Tables& t, const TargetInfo& target) {
  const std::vector<int64_t> depths = depths_of(t);
  const int64_t depth = *std::max_element(depths.begin(), depths.end());
  if (depth < 1 || t.column_count() > 256) return std::nullopt;
  const std::optional<int64_t> levels = levels_of(t, target, depth);
  if (!levels) return std::nullopt;
  Heap out;
  out.levels = *levels;
  out.levels_below = depth - *levels;
  out.depths_below = list_of(t.tree_count(), [&](int64_t tree) {
    return std::max<int64_t>(0, depths[static_cast<size_t>(tree)] - out.levels);
  });
  out.column_bits = column_bits_of(t);
  out.words.resize(static_cast<size_t>(t.tree_count() * out.nodes()));
  out.features.resize(out.words.size());
  out.places.resize(static_cast<size_t>(t.tree_count() * (out.nodes() + 1)));
  Filler filler(t, out);
  for (int64_t tree = 0; tree < t.tree_count(); ++tree) filler.tree(tree);
  return out;
}

Lowered lower_heap(const OpView& op, const Tables& tables, const Heap& heap, const TargetInfo& target) {
  return HeapLowering(op, tables, heap, target).finish();
}

}  // namespace aotc::ops::trees
