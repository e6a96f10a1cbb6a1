// SPDX-License-Identifier: Apache-2.0
// tree_ensemble as C: a loop over trees around a loop over levels, or whole trees (heap.h). The one thing to know:
// nodes lie depth first here, so that one of the two branches needs no address.
#include <algorithm>
#include <bit>

#include "ops/trees/heap.h"

namespace aotc::ops::trees {

namespace {

using tir::BufferPtr;
using tir::Ex;

int bits_of(const std::vector<int64_t>& values) {
  const int64_t most = *std::max_element(values.begin(), values.end());
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(most)));
}

struct Parts {
  std::vector<int64_t> columns, skips, indices;
  int column_bits, skip_bits, index_bits;
  int bits() const { return column_bits + skip_bits + index_bits; }
};

Parts parts_of(const Tables& t) {
  Parts out{list_of(t.node_count(), [&](int64_t i) { return t.node(i).skip == 0 ? 0 : t.node(i).column; }),
            list_of(t.node_count(), [&](int64_t i) { return t.node(i).skip; }),
            list_of(t.node_count(), [&](int64_t i) { return t.node(i).index; }),
            0,
            0,
            0};
  out.column_bits = bits_of(out.columns);
  out.skip_bits = bits_of(out.skips);
  out.index_bits = bits_of(out.indices);
  return out;
}

struct Step {
  Ex column, skip, index;
};

// Nodes in one word each, if their parts fit; else a table for each part.
class Nodes {
 public:
  Nodes(LoweringBuilder& f, const Tables& t) : f_(f) {
    const Parts p = parts_of(t);
    skip_bits_ = p.skip_bits;
    column_bits_ = p.column_bits;
    if (p.bits() > 32) {
      columns_ = narrow_table(f, "columns", p.columns);
      skips_ = narrow_table(f, "skips", p.skips);
      indices_ = narrow_table(f, "indices", p.indices);
      return;
    }
    std::vector<int32_t> words;
    for (size_t i = 0; i < p.skips.size(); ++i)
      words.push_back(static_cast<int32_t>(static_cast<uint32_t>(p.skips[i] | p.columns[i] << skip_bits_ |
                                                                 p.indices[i] << (skip_bits_ + column_bits_))));
    if (p.bits() > 16) words_ = f.constant("nodes", DType::kI32, words);
    else words_ = f.constant("nodes", DType::kU16, std::vector<uint16_t>(words.begin(), words.end()), 2);
    index_mask_ = p.index_bits == 32 ? -1 : (int64_t{1} << std::min(p.index_bits, 31)) - 1;
  }

  Step at(const Ex& node) {
    if (words_ == nullptr) return {load(columns_, node), f_.let("skip", load(skips_, node)), load(indices_, node)};
    Ex word = f_.let("word", load(words_, node));
    auto part = [&](int from, int64_t mask) { return mask == 0 ? Ex(0) : (from == 0 ? word : word >> from) & mask; };
    return {part(skip_bits_, (int64_t{1} << column_bits_) - 1), f_.let("skip", part(0, (int64_t{1} << skip_bits_) - 1)),
            part(skip_bits_ + column_bits_, index_mask_)};
  }

 private:
  LoweringBuilder& f_;
  BufferPtr words_, columns_, skips_, indices_;
  int skip_bits_ = 0, column_bits_ = 0;
  int64_t index_mask_ = 0;
};

class ChainLowering final : public EnsembleLowering {
 public:
  ChainLowering(const OpView& op, const Tables& tables, const TargetInfo& target)
      : EnsembleLowering(op, tables, shared_values(tables, target, 1)), nodes_(f_, tables), depths_(depths_of(tables)) {
    make_keys(false);
    std::vector<int32_t> thresholds;
    for (float v : t_.thresholds) thresholds.push_back(key_of(v));
    if (thresholds.empty()) thresholds.push_back(0);
    thresholds_ = f_.constant("thresholds", DType::kI32, thresholds);
    roots_ = narrow_table(f_, "roots", list_of(t_.tree_count(), [&](int64_t i) { return t_.root(i); }));
    const bool same = std::count(depths_.begin(), depths_.end(), depths_[0]) == t_.tree_count();
    if (!same) levels_ = narrow_table(f_, "levels", depths_);
  }

  Lowered finish() {
    rows([&](const Ex&) {
      sum([&](auto add) { f_.loop("tree", 0, t_.tree_count(), [&](const Ex& tree) { add(tree, leaf(tree)); }); });
    });
    return f_.finish("depth first, in order of whole numbers");
  }

 private:
  // The leaf of the tree.
  Ex leaf(const Ex& tree) {
    Ex node = f_.var("node", load(roots_, tree));
    f_.loop("level", 0, levels_ ? load(levels_, tree) : Ex(depths_[0]), [&](const Ex&) {
      Step step = nodes_.at(node);
      f_.if_(step.skip != 0, [&] {
        Ex goes_on = load(keys_, step.column) <= load(thresholds_, step.index);
        f_.assign(node, node + select(goes_on, 1, step.skip));
      });
    });
    return f_.let("leaf", nodes_.at(node).index);
  }

  Nodes nodes_;
  std::vector<int64_t> depths_;
  BufferPtr thresholds_, roots_, levels_;
};

}  // namespace

int64_t chain_bytes(const Tables& t) {
  const Parts p = parts_of(t);
  const int64_t apart = narrow_bytes(int64_t{1} << p.column_bits) + narrow_bytes(int64_t{1} << p.skip_bits) +
                        narrow_bytes(int64_t{1} << p.index_bits);
  const int64_t node = p.bits() <= 16 ? 2 : p.bits() <= 32 ? 4 : apart;
  return t.node_count() * node + static_cast<int64_t>(t.thresholds.size()) * 4;
}

Lowered lower(const OpView& op, const TargetInfo& target) {
  const Tables tables = tables_of(op);
  if (std::optional<Heap> heap = heap_of(tables, target)) return lower_heap(op, tables, *heap, target);
  return ChainLowering(op, tables, target).finish();
}

}  // namespace aotc::ops::trees
