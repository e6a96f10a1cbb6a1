// SPDX-License-Identifier: Apache-2.0
// tree_ensemble of trees whose first levels have all of their nodes, walked by a kernel.
#include "cores/arm/dsp/trees.h"

#include <limits>
#include <utility>

#include "cores/arm/dsp/lowerings.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kSign = std::numeric_limits<int32_t>::min();
constexpr int64_t kLeaf = -32768;  // places of leaves, with nodes below

// Words, of which parts are set.
class Words {
 public:
  explicit Words(int64_t count) : words_(static_cast<size_t>(count)) {}
  void set(int64_t word, int64_t value) { words_[static_cast<size_t>(word)] = static_cast<int32_t>(value); }
  // The `i`th of parts of so many bits from the word on, zero until then.
  void set_part(int64_t word, int64_t i, int bits, int64_t value) {
    auto& to = words_[static_cast<size_t>(word + i * bits / 32)];
    const auto part = static_cast<uint32_t>(value) & ((uint32_t{1} << bits) - 1);
    to = static_cast<int32_t>(static_cast<uint32_t>(to) | part << i * bits % 32);
  }
  std::vector<int32_t> take() { return std::move(words_); }

 private:
  std::vector<int32_t> words_;
};

// A place as a halfword.
std::optional<int64_t> half_of(const trees::Heap& heap, const trees::Place& place, int64_t values) {
  if (!place.leaf) return heap.code(place) < -kLeaf ? std::optional(heap.code(place)) : std::nullopt;
  const int64_t leaf = place.index * values, most = heap.levels_below > 0 ? -kLeaf : -2 * kLeaf;
  if (leaf >= most) return std::nullopt;
  return heap.levels_below > 0 ? leaf + kLeaf : leaf;
}

// Fills in the words of a kernel's table.
class TableMaker {
 public:
  TableMaker(const trees::Heap& heap, int64_t trees, int64_t values, const std::optional<trees::SharedValues>& shared)
      : heap_(heap), trees_(trees), values_(values), shared_(shared) {}

  std::optional<std::vector<int32_t>> make() {
    const auto below = static_cast<int64_t>(heap_.below.size());
    const auto places = shared_ ? static_cast<int64_t>(shared_->places.size()) : 0;
    const int64_t thresholds = layout_.header() + trees_ * block_.stride(), children = thresholds + below;
    out_ = Words(children + below + (places + 1) / 2);
    out_.set(0, trees_);
    for (int64_t tree = 0; tree < trees_; ++tree) add_block(tree);
    if (block_.below) out_.set(layout_.below_at(), 4 * thresholds), out_.set(layout_.children_at(), 4 * children);
    for (int64_t i = 0; i < below; ++i) out_.set(thresholds + i, heap_.below[static_cast<size_t>(i)] ^ kSign);
    for (int64_t i = 0; i < 2 * below; ++i) set_place(children, i, heap_.children[static_cast<size_t>(i)]);
    if (shared_) out_.set(layout_.values_at(), 4 * (children + below));
    for (int64_t i = 0; i < places; ++i)
      out_.set_part(children + below, i, 16, shared_->places[static_cast<size_t>(i)]);
    if (fits_) return out_.take();
    return std::nullopt;
  }

 private:
  void set_place(int64_t word, int64_t i, const trees::Place& place) {
    const std::optional<int64_t> half = half_of(heap_, place, values_);
    fits_ = fits_ && half;
    if (half) out_.set_part(word, i, 16, *half);
  }

  void add_block(int64_t tree) {
    const int64_t first = layout_.header() + tree * block_.stride() - (block_.below ? 0 : 1), count = heap_.nodes() + 1;
    if (block_.below) out_.set(first, 4 * heap_.counts[static_cast<size_t>(tree)]);
    for (int64_t n = 1; n < count; ++n) {
      const auto at = static_cast<size_t>(tree * heap_.nodes() + n - 1);
      out_.set(first + n, heap_.words[at] ^ kSign);
      out_.set_part(first + block_.columns(), n, 8, heap_.features[at]);
    }
    for (int64_t i = 0; i < count; ++i)
      set_place(first + block_.places(), i, heap_.places[static_cast<size_t>(tree * count + i)]);
  }

  const trees::Heap& heap_;
  const int64_t trees_, values_;
  const std::optional<trees::SharedValues>& shared_;
  const TreeBlock block_{heap_.levels, heap_.levels_below > 0};
  const TreeTable layout_{block_.below, shared_.has_value()};
  Words out_{0};
  bool fits_ = true;
};

}  // namespace

std::optional<std::vector<int32_t>> tree_table(const trees::Heap& heap, int64_t trees, int64_t values,
                                               const std::optional<trees::SharedValues>& shared) {
  return TableMaker(heap, trees, values, shared).make();
}

namespace {

// The meaning's loads from the table.
class TableReads {
 public:
  TableReads(tir::FunctionBuilder& f, BufferPtr table) : f_(f), table_(std::move(table)) {}
  Ex word(const Ex& at) const { return load(table_, at); }
  Ex byte(const Ex& word_at, const Ex& i) const { return load(table_, word_at + (i >> 2)) >> ((i & 3) << 3) & 255; }
  Ex half(const Ex& word_at, const Ex& i) const { return load(table_, word_at + (i >> 1)) >> ((i & 1) << 4) & 65535; }
  Ex signed_half(const Ex& word_at, const Ex& i) const { return (half(word_at, i) ^ -kLeaf) + kLeaf; }
  Ex at_most(const Ex& key, const Ex& at) const {
    Ex k = f_.let("key", key), w = f_.let("word", word(at));
    return (k ^ kSign) <= (w ^ kSign);
  }

 private:
  tir::FunctionBuilder& f_;
  BufferPtr table_;
};

// The kernel's meaning.
class TreeSums {
 public:
  TreeSums(const trees::Heap& heap, int64_t values, bool shared)
      : heap_(heap), values_(values), block_{heap.levels, heap.levels_below > 0}, layout_{block_.below, shared} {}

  tir::KernelPtr kernel() {
    for (int64_t v = 0; v < values_; ++v) f_.store(out_, v, tir::f32(0.0f));
    Ex nodes = block_.below ? f_.var("nodes", 0) : Ex(0);
    f_.loop("tree", 0, reads_.word(0), [&](const Ex& tree) {
      Ex first = f_.let("first", tree * block_.stride() + (layout_.header() - (block_.below ? 0 : 1)));
      Ex node = f_.var("node", 1);
      f_.loop("level", 0, block_.levels, [&](const Ex&) {
        Ex column = reads_.byte(first + block_.columns(), node);
        f_.assign(node, node + node + reads_.at_most(load(keys_, column), first + node));
      });
      Ex n = f_.let("n", node - (block_.nodes() + 1));
      add(f_.let("leaf", block_.below ? below(first, n, nodes) : reads_.half(first + block_.places(), n)));
    });
    return f_.finish_kernel("tree_sums", {{"levels", block_.levels},
                                          {"below", heap_.levels_below},
                                          {"bits", heap_.column_bits},
                                          {"shared", layout_.shared},
                                          {"values", values_}});
  }

 private:
  Ex below(const Ex& first, const Ex& n, const Ex& nodes) {
    Ex place = f_.var("place", reads_.signed_half(first + block_.places(), n));
    Ex thresholds = f_.let("thresholds", (reads_.word(layout_.below_at()) >> 2) + nodes);
    Ex children = f_.let("children", (reads_.word(layout_.children_at()) >> 2) + nodes);
    f_.loop("level", 0, heap_.levels_below, [&](const Ex&) {
      f_.if_(place >= 0, [&] {
        Ex at = f_.let("at", place >> heap_.column_bits);
        Ex column = place & ((int64_t{1} << heap_.column_bits) - 1);
        f_.assign(place, reads_.signed_half(children, at + at + reads_.at_most(load(keys_, column), thresholds + at)));
      });
    });
    f_.assign(nodes, nodes + (reads_.word(first) >> 2));
    return place - kLeaf;
  }

  void add(const Ex& leaf) {
    for (int64_t v = 0; v < values_; ++v) {
      Ex so_far = f_.let("so_far", load(out_, v));
      Ex at = layout_.shared ? reads_.half(reads_.word(layout_.values_at()) >> 2, leaf + v) : leaf + v;
      f_.store(out_, v, so_far + load(leaves_, at));
    }
  }

  const trees::Heap& heap_;
  const int64_t values_;
  const TreeBlock block_;
  const TreeTable layout_;
  tir::FunctionBuilder f_{"tree_sums"};
  const BufferPtr table_ = f_.constant("table", DType::kI32, 0), leaves_ = f_.constant("leaves", DType::kF32, 0),
                  keys_ = f_.input("keys", DType::kI32, 0), out_ = f_.output("out", DType::kF32, 0);
  const TableReads reads_{f_, table_};
};

}  // namespace

tir::KernelPtr tree_sums_kernel(const trees::Heap& heap, int64_t values, bool shared) {
  return TreeSums(heap, values, shared).kernel();
}

namespace {

class TreeSumsLowering final : public trees::EnsembleLowering {
 public:
  TreeSumsLowering(const OpView& op, const trees::Tables& tables, const std::optional<trees::SharedValues>& shared)
      : EnsembleLowering(op, tables, shared ? std::optional(trees::SharedValues{shared->values, {}}) : std::nullopt),
        shared_(shared) {}

  std::optional<Lowered> run(const trees::Heap& heap) {
    const auto words = tree_table(heap, t_.tree_count(), targets_, shared_);
    if (!words) return std::nullopt;
    make_keys(true);
    BufferPtr table = f_.constant("trees", DType::kI32, *words);
    rows([&](const Ex& row) {
      f_.run(tree_sums_kernel(heap, targets_, shared_.has_value()),
             {address(table, 0), address(leaves_, 0), address(keys_, 0), address(out_, row * targets_)});
    });
    return f_.finish("level by level, in order of whole numbers");
  }

 private:
  const std::optional<trees::SharedValues>& shared_;
};

}  // namespace

bool is_tree_sums(const OpView&, const TargetInfo& target) { return target.fpu; }

std::optional<Lowered> lower_trees_dsp(const OpView& op, const TargetInfo& target) {
  const trees::Tables tables = trees::tables_of(op);
  const int64_t targets = op.result().shape[1];
  if (tables.values != targets || targets > TreeBlock::kMostValues) return std::nullopt;
  const std::optional<trees::Heap> heap = trees::heap_of(tables, target);
  if (!heap) return std::nullopt;
  const std::optional<trees::SharedValues> shared = trees::shared_values(tables, target, 2);
  if (shared && shared->values.size() > 65536) return std::nullopt;
  return TreeSumsLowering(op, tables, shared).run(*heap);
}

}  // namespace aotc::cores::arm
