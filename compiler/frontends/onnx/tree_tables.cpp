// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/tree_tables.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

namespace aotc::frontends::onnx::classical {

namespace {

using Column = std::pair<bool, int64_t>;  // NaN goes to the next node, feature

// A node that compares as ours do.
struct Compared {
  Column column;
  float threshold;
  int64_t next, other;
};

Compared compared(Call& c, const TreeNode& n) {
  const bool strict = n.branch == Branch::kLt || n.branch == Branch::kGte;
  const bool exchanged = n.branch == Branch::kGte || n.branch == Branch::kGt;
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  if (std::isnan(n.threshold) || (strict && n.threshold == kLowest))
    c.refuse("a threshold is NaN, or -inf with < or >=");
  const float threshold = strict ? std::nextafter(n.threshold, kLowest) : n.threshold;
  return {{n.nan_is_true != exchanged, n.feature},
          threshold == 0.0f ? 0.0f : threshold,
          exchanged ? n.if_false : n.if_true,
          exchanged ? n.if_true : n.if_false};
}

// Of all leaves of the tree the one target that they have, or nothing.
std::optional<int64_t> only_target(const Forest& forest, const std::vector<int64_t>& leaves) {
  std::optional<int64_t> out;
  for (int64_t i : leaves) {
    const auto& weights = forest.nodes[static_cast<size_t>(i)].weights;
    if (weights.size() != 1 || (out && *out != weights[0].first)) return std::nullopt;
    out = weights[0].first;
  }
  return out;
}

class Maker {
 public:
  Maker(Call& c, const Forest& forest) : c_(c), forest_(forest) {}

  Id sums(Id x) {
    number_columns();
    for (int64_t root : forest_.roots) lay(root);
    const auto trees = static_cast<int64_t>(forest_.roots.size());
    values_ = 1;
    for (const auto& leaves : leaves_)
      if (!only_target(forest_, leaves)) values_ = forest_.targets;
    for (size_t tree = 0; tree < leaves_.size(); ++tree) {
      trees_[2 * tree + 1] = values_ == forest_.targets ? 0 : *only_target(forest_, leaves_[tree]);
      fill_leaves(leaves_[tree]);
    }
    Builder& b = c_.b;
    auto ints = [&](const Ints& values, int64_t width) {
      return b.reshape(b.int_list(values, DType::kI32), {static_cast<int64_t>(values.size()) / width, width});
    };
    std::vector<float> thresholds(thresholds_.begin(), thresholds_.end());
    const auto count = static_cast<int64_t>(thresholds.size());
    Id leaves = b.floats_of(leaf_values_, {static_cast<int64_t>(leaf_values_.size()) / values_, values_});
    return b.add("tree_ensemble",
                 {x, ints(columns_, 2), b.floats_of(thresholds, {count}), ints(nodes_, 3),
                  b.reshape(b.int_list(trees_, DType::kI32), {trees, 2}), leaves},
                 {{"targets", forest_.targets}}, DType::kF32);
  }

 private:
  void number_columns() {
    for (const TreeNode& n : forest_.nodes) {
      if (n.leaf) continue;
      Compared how = compared(c_, n);
      column_of_.emplace(how.column, 0);
      thresholds_.insert(how.threshold);
    }
    for (auto& [column, number] : column_of_) {
      number = static_cast<int64_t>(columns_.size()) / 2;
      columns_.insert(columns_.end(), {column.second, column.first ? 1 : 0});
    }
    if (columns_.empty()) {  // all trees are single leaves, and no table may be empty
      columns_ = {0, 0};
      thresholds_ = {0.0f};
    }
    int64_t place = 0;
    for (float threshold : thresholds_) place_of_.emplace(threshold, place++);
  }

  // Depth first; a list, as trees of a file may be as deep as they have nodes.
  void lay(int64_t root) {
    trees_.insert(trees_.end(), {static_cast<int64_t>(nodes_.size()) / 3, 0});
    leaves_.emplace_back();
    std::vector<std::pair<int64_t, int64_t>> left = {{root, -1}};
    while (!left.empty()) {
      auto [node, from] = left.back();
      left.pop_back();
      if (node < 0 || node >= static_cast<int64_t>(forest_.nodes.size()) || !laid_.insert(node).second)
        c_.refuse("the nodes do not form trees");
      const auto place = static_cast<int64_t>(nodes_.size()) / 3;
      if (from >= 0) nodes_[static_cast<size_t>(3 * from + 1)] = place - from;
      const TreeNode& n = forest_.nodes[static_cast<size_t>(node)];
      if (n.leaf) {
        leaf_places_.emplace(node, place);
        leaves_.back().push_back(node);
        nodes_.insert(nodes_.end(), {0, 0, 0});
        continue;
      }
      Compared how = compared(c_, n);
      nodes_.insert(nodes_.end(), {column_of_.at(how.column), 0, place_of_.at(how.threshold)});
      left.emplace_back(how.other, place);
      left.emplace_back(how.next, -1);
    }
  }

  void fill_leaves(const std::vector<int64_t>& leaves) {
    for (int64_t leaf : leaves) {
      std::vector<float> row(static_cast<size_t>(values_), 0.0f);
      for (auto [target, weight] : forest_.nodes[static_cast<size_t>(leaf)].weights)
        row[values_ == forest_.targets ? static_cast<size_t>(target) : 0] += weight;
      auto [at, fresh] = rows_.emplace(row, static_cast<int64_t>(rows_.size()));
      if (fresh) leaf_values_.insert(leaf_values_.end(), row.begin(), row.end());
      nodes_[static_cast<size_t>(3 * leaf_places_.at(leaf) + 2)] = at->second;
    }
  }

  Call& c_;
  const Forest& forest_;
  std::map<Column, int64_t> column_of_;
  std::set<float> thresholds_;
  std::map<float, int64_t> place_of_;
  Ints columns_, nodes_, trees_;
  std::set<int64_t> laid_;
  std::vector<std::vector<int64_t>> leaves_;  // by tree
  std::map<int64_t, int64_t> leaf_places_;
  std::map<std::vector<float>, int64_t> rows_;
  std::vector<float> leaf_values_;
  int64_t values_ = 1;
};

}  // namespace

Scored scored_by(const Forest& forest) {
  Scored out;
  out.any.resize(static_cast<size_t>(forest.targets));
  for (const TreeNode& n : forest.nodes)
    for (auto [target, weight] : n.weights) {
      out.any[static_cast<size_t>(target)] = true;
      out.all_positive = out.all_positive && weight >= 0.0f;
    }
  // Nodes of a tree stand together.
  std::set<int64_t> seen;
  bool fresh = true;
  size_t tree = 0;
  for (size_t i = 0; i < forest.nodes.size(); ++i) {
    if (tree < forest.roots.size() && forest.roots[tree] == static_cast<int64_t>(i)) fresh = true, ++tree;
    if (!forest.nodes[i].leaf) continue;
    std::set<int64_t> here;
    for (auto [target, weight] : forest.nodes[i].weights) here.insert(target);
    if (!fresh && here != seen) out.every = false;
    seen = std::move(here);
    fresh = false;
  }
  return out;
}

namespace {

// A feature and the values that a node looks for, ascending; `nan`: NaN is one of them.
struct Membership {
  int64_t feature;
  std::vector<float> values;
  bool nan;
  auto operator<=>(const Membership&) const = default;
};

Membership membership_of(const TreeNode& n) {
  std::set<float> values;
  for (float v : n.members)
    if (!std::isnan(v)) values.insert(v == 0.0f ? 0.0f : v);
  return {n.feature, {values.begin(), values.end()}, n.nan_is_true};
}

// f32 [rows, count]: 1 where a row's feature is one of the values, else 0. All tests have as many values as the
// longest; further ones are NaN, which equals nothing.
Id hits_of(Builder& b, Id x, const std::vector<Membership>& tests) {
  size_t most = 1;
  for (const Membership& test : tests) most = std::max(most, test.values.size() + (test.nan ? 1 : 0));
  constexpr auto kMostEntries = static_cast<size_t>(limits::kMaxActivationBytes) / 32;  // bytes while compiling
  if (tests.size() > kMostEntries / most)
    b.stop("onnx-limit",
           fmt::format("{} membership tests of up to {} values are too many: the product must be at most {}",
                       tests.size(), most, kMostEntries),
           "export the trees with fewer categories");
  Ints features;
  std::vector<float> values;
  std::vector<uint8_t> nan;
  for (const Membership& test : tests)
    for (size_t i = 0; i < most; ++i) {
      features.push_back(test.feature);
      values.push_back(i < test.values.size() ? test.values[i] : std::numeric_limits<float>::quiet_NaN());
      nan.push_back(test.nan && i == test.values.size() ? 1 : 0);
    }
  const auto columns = static_cast<int64_t>(values.size()), count = static_cast<int64_t>(tests.size());
  Id seen = b.add("gather", {x, b.int_list(features)}, {{"axis", 1}});
  Id hits = b.add("equal", {seen, b.floats_of(values, {columns})}, {}, DType::kBool);
  if (std::find(nan.begin(), nan.end(), 1) != nan.end()) {
    Id none = b.add("not_equal", {seen, seen}, {}, DType::kBool);
    none = b.add("logical_and", {none, b.constant(DType::kBool, {columns}, nan)}, {}, DType::kBool);
    hits = b.add("logical_or", {hits, none}, {}, DType::kBool);
  }
  hits = b.cast(hits, DType::kF32);
  return most == 1 ? hits
                   : reduce(b, "reduce_max", b.reshape(hits, {b.shape(x)[0], count, columns / count}), {2}, false);
}

// Adds a feature for each test of membership, and makes the nodes compare these.
Id with_memberships(Builder& b, Id x, Forest& forest) {
  std::map<Membership, int64_t> numbers;
  for (const TreeNode& n : forest.nodes)
    if (!n.leaf && n.branch == Branch::kMember) numbers.emplace(membership_of(n), 0);
  if (numbers.empty()) return x;
  std::vector<Membership> tests;
  for (auto& [test, number] : numbers) {
    number = b.shape(x)[1] + static_cast<int64_t>(tests.size());
    tests.push_back(test);
  }
  for (TreeNode& n : forest.nodes) {
    if (n.leaf || n.branch != Branch::kMember) continue;
    n.feature = numbers.at(membership_of(n));
    n.branch = Branch::kGt;
    n.threshold = 0.5f;
    n.nan_is_true = false;
  }
  return b.add("concatenation", {x, hits_of(b, x, tests)}, {{"axis", 1}});
}

}  // namespace

Id sums_of(Call& c, Id x, Forest forest) {
  if (forest.roots.empty()) c.refuse("the operator has no trees");
  for (const TreeNode& n : forest.nodes) {
    if (!n.leaf && (n.feature < 0 || n.feature >= c.b.shape(x)[1]))
      c.refuse(fmt::format("a node tests feature {}, but there are {} features, numbered from 0", n.feature,
                           c.b.shape(x)[1]));
    for (auto [target, weight] : n.weights)
      if (target < 0 || target >= forest.targets || !n.leaf)
        c.refuse("a weight is not at a leaf, or its target does not exist");
  }
  x = with_memberships(c.b, x, forest);
  return Maker(c, forest).sums(x);
}

}  // namespace aotc::frontends::onnx::classical
