// SPDX-License-Identifier: Apache-2.0
// tree_ensemble as C: a loop over trees around a loop over levels. The one thing to know: floats
// are compared as whole numbers that have their order, made once of each feature, so a node costs
// no float comparison, and thresholds stay exact.
#include <algorithm>
#include <bit>
#include <limits>

#include "ops/trees/trees.h"

namespace aotc::ops::trees {

namespace {

using tir::BufferPtr;
using tir::Ex;
using tir::Intrinsic;

// Whole numbers in the order of floats; 0 and -0 are two of them, so a threshold takes the upper.
int32_t key_of(float threshold) {
  const auto bits = std::bit_cast<int32_t>(threshold == 0.0f ? 0.0f : threshold);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}

// A table of whole numbers >= 0, of as many bytes as they need.
BufferPtr table(LoweringBuilder& f, const std::string& name, const std::vector<int64_t>& values) {
  const int64_t most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  if (most < 256)
    return f.constant(name, DType::kU8, std::vector<uint8_t>(values.begin(), values.end()), 1);
  if (most < 65536)
    return f.constant(name, DType::kU16, std::vector<uint16_t>(values.begin(), values.end()), 2);
  return f.constant(name, DType::kI32, std::vector<int32_t>(values.begin(), values.end()));
}

template <typename Get>
std::vector<int64_t> list_of(int64_t count, Get get) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(get(i));
  return out;
}

int bits_of(const std::vector<int64_t>& values) {
  const int64_t most = *std::max_element(values.begin(), values.end());
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(most)));
}

struct Step {
  Ex column, skip, index;
};

// Nodes in one word each, if their parts fit; else a table for each part.
class Nodes {
 public:
  Nodes(LoweringBuilder& f, const Tables& t) : f_(f) {
    const auto columns = list_of(
        t.node_count(), [&](int64_t i) { return t.node(i).skip == 0 ? 0 : t.node(i).column; });
    const auto skips = list_of(t.node_count(), [&](int64_t i) { return t.node(i).skip; });
    const auto indices = list_of(t.node_count(), [&](int64_t i) { return t.node(i).index; });
    skip_bits_ = bits_of(skips);
    column_bits_ = bits_of(columns);
    const int bits = skip_bits_ + column_bits_ + bits_of(indices);
    if (bits > 32) {
      columns_ = table(f, "columns", columns);
      skips_ = table(f, "skips", skips);
      indices_ = table(f, "indices", indices);
      return;
    }
    std::vector<int32_t> words;
    for (size_t i = 0; i < skips.size(); ++i)
      words.push_back(static_cast<int32_t>(static_cast<uint32_t>(
          skips[i] | columns[i] << skip_bits_ | indices[i] << (skip_bits_ + column_bits_))));
    if (bits > 16)
      words_ = f.constant("nodes", DType::kI32, words);
    else
      words_ =
          f.constant("nodes", DType::kU16, std::vector<uint16_t>(words.begin(), words.end()), 2);
    index_mask_ = (int64_t{1} << std::min(bits_of(indices), 31)) - 1;
    if (bits_of(indices) == 32) index_mask_ = -1;
  }

  Step at(const Ex& node) {
    if (words_ == nullptr)
      return {load(columns_, node), f_.let("skip", load(skips_, node)), load(indices_, node)};
    Ex word = f_.let("word", load(words_, node));
    auto part = [&](int from, int64_t mask) {
      return mask == 0 ? Ex(0) : (from == 0 ? word : word >> from) & mask;
    };
    return {part(skip_bits_, (int64_t{1} << column_bits_) - 1),
            f_.let("skip", part(0, (int64_t{1} << skip_bits_) - 1)),
            part(skip_bits_ + column_bits_, index_mask_)};
  }

 private:
  LoweringBuilder& f_;
  BufferPtr words_, columns_, skips_, indices_;
  int skip_bits_ = 0, column_bits_ = 0;
  int64_t index_mask_ = 0;
};

// Of every node how many steps a walk from it takes at most.
std::vector<int64_t> depths_of(const Tables& t) {
  std::vector<int64_t> depth(static_cast<size_t>(t.node_count()));
  for (int64_t i = t.node_count() - 1; i >= 0; --i)
    if (int64_t skip = t.node(i).skip; skip != 0)
      depth[static_cast<size_t>(i)] =
          1 + std::max(depth[static_cast<size_t>(i + 1)], depth[static_cast<size_t>(i + skip)]);
  return list_of(t.tree_count(),
                 [&](int64_t tree) { return depth[static_cast<size_t>(t.root(tree))]; });
}

class Walk {
 public:
  Walk(const OpView& op, const Tables& tables)
      : t_(tables),
        f_(op, "tree_ensemble"),
        in_(f_.operand(0)),
        out_(f_.result()),
        nodes_(f_, tables),
        features_(op.operand(0).shape[1]),
        targets_(op.result().shape[1]) {
    keys_ = f_.scratch("keys", DType::kI32, t_.column_count());
    std::vector<int32_t> thresholds;
    for (float v : t_.thresholds) thresholds.push_back(key_of(v));
    if (thresholds.empty()) thresholds.push_back(0);
    thresholds_ = f_.constant("thresholds", DType::kI32, thresholds);
    roots_ = table(f_, "roots", list_of(t_.tree_count(), [&](int64_t i) { return t_.root(i); }));
    leaves_ =
        f_.constant("leaves", DType::kF32, std::vector<float>(t_.leaves.begin(), t_.leaves.end()));
    depths_ = depths_of(t_);
    const auto features = list_of(t_.column_count(), [&](int64_t c) { return t_.feature(c); });
    for (int64_t c = 0; c < t_.column_count(); ++c) {
      in_order_ = in_order_ && features[static_cast<size_t>(c)] == c;
      all_skip_ = all_skip_ && !t_.nan_is_next(c);
      all_go_on_ = all_go_on_ && t_.nan_is_next(c);
    }
    if (!in_order_) columns_ = table(f_, "features", features);
    if (!all_skip_ && !all_go_on_)
      nan_ =
          table(f_, "nan",
                list_of(t_.column_count(), [&](int64_t c) { return t_.nan_is_next(c) ? 1 : 0; }));
  }

  Lowered finish() {
    f_.loop("row", 0, in_->elements / features_, [&](Ex row) {
      keys(row);
      sum(row);
    });
    return f_.finish("depth first, in order of whole numbers");
  }

 private:
  void keys(const Ex& row) {
    constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(),
                      kMost = std::numeric_limits<int32_t>::max();
    f_.loop("c", 0, t_.column_count(), [&](Ex c) {
      Ex feature = in_order_ ? c : load(columns_, c);
      Ex bits = f_.let(
          "bits", call(Intrinsic::kFloatBits, DType::kI32, {load(in_, row * features_ + feature)}));
      Ex magnitude = f_.let("magnitude", bits & kMost);
      Ex nan = all_skip_    ? Ex(kMost)
               : all_go_on_ ? Ex(kLeast)
                            : select(load(nan_, c) != 0, kLeast, kMost);
      f_.store(keys_, c, select(magnitude > 0x7f800000, nan, select(bits < 0, bits ^ kMost, bits)));
    });
  }

  // The leaf of the tree.
  Ex leaf(const Ex& tree) {
    const bool same = std::count(depths_.begin(), depths_.end(), depths_[0]) == t_.tree_count();
    if (!same && levels_ == nullptr) levels_ = table(f_, "levels", depths_);
    Ex node = f_.var("node", load(roots_, tree));
    f_.loop("level", 0, same ? Ex(depths_[0]) : load(levels_, tree), [&](Ex) {
      Step step = nodes_.at(node);
      f_.if_(step.skip != 0, [&] {
        Ex goes_on = load(keys_, step.column) <= load(thresholds_, step.index);
        f_.assign(node, node + select(goes_on, 1, step.skip));
      });
    });
    return f_.let("leaf", nodes_.at(node).index);
  }

  void sum(const Ex& row) {
    if (targets_ == 1) {
      Ex total = f_.var("total", tir::f32(0.0f));
      f_.loop("tree", 0, t_.tree_count(),
              [&](Ex tree) { f_.assign(total, total + load(leaves_, leaf(tree))); });
      f_.store(out_, row, total);
      return;
    }
    bool all_targets = t_.values == targets_;
    BufferPtr targets;
    if (!all_targets)
      targets =
          table(f_, "targets", list_of(t_.tree_count(), [&](int64_t i) { return t_.target(i); }));
    f_.loop("v", 0, targets_, [&](Ex v) { f_.store(out_, row * targets_ + v, tir::f32(0.0f)); });
    f_.loop("tree", 0, t_.tree_count(), [&](Ex tree) {
      Ex values = leaf(tree);
      Ex first =
          f_.let("first", all_targets ? row * targets_ : row * targets_ + load(targets, tree));
      f_.loop("v", 0, t_.values, [&](Ex v) {
        Ex so_far = f_.let("so_far", load(out_, first + v));
        f_.store(out_, first + v, so_far + load(leaves_, values * t_.values + v));
      });
    });
  }

  const Tables& t_;
  LoweringBuilder f_;
  BufferPtr in_, out_;
  Nodes nodes_;
  int64_t features_, targets_;
  BufferPtr keys_, thresholds_, roots_, leaves_, columns_, nan_, levels_;
  std::vector<int64_t> depths_;
  bool in_order_ = true, all_skip_ = true, all_go_on_ = true;
};

}  // namespace

Lowered lower(const OpView& op) {
  const Tables tables = tables_of(op);
  return Walk(op, tables).finish();
}

}  // namespace aotc::ops::trees
