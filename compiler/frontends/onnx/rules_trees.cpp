// SPDX-License-Identifier: Apache-2.0
// TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble. The scores of a classifier of two classes are
// computed as in onnxruntime, because the specification leaves them open.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "frontends/onnx/rules_ml.h"
#include "frontends/onnx/tree_tables.h"

namespace aotc::frontends::onnx {

namespace classical {

namespace {

// A list of whole numbers as long as another.
const Ints& list(Call& c, std::string_view name, size_t count) {
  static const Ints kNone;
  const Attribute* a = c.find(name);
  const Ints& out = a == nullptr ? kNone : a->ints;
  if (out.size() != count) c.refuse(fmt::format("{} has {} elements, expected {}", name, out.size(), count));
  return out;
}

// Of an attribute that is a tensor; nothing if it is not there.
std::vector<float> floats_of_tensor(Call& c, std::string_view name) {
  const Attribute* a = c.find(name);
  if (a == nullptr) return {};
  return c.b.floats(c.b.as_element(c.tensor(*a), kFloat)).value_or(std::vector<float>{});
}

std::vector<float> float_list(Call& c, const std::string& name) {
  const std::string tensor = name + "_as_tensor";
  return c.find(tensor) != nullptr ? floats_of_tensor(c, tensor) : c.reals(name);
}

// Sets how node n compares, by the mode's name. NaN differs from every value.
void set_branch(Call& c, TreeNode& n, std::string_view mode) {
  static const std::map<std::string_view, Branch> kBranches = {
      {"BRANCH_LEQ", Branch::kLeq}, {"BRANCH_LT", Branch::kLt},     {"BRANCH_GTE", Branch::kGte},
      {"BRANCH_GT", Branch::kGt},   {"BRANCH_EQ", Branch::kMember}, {"BRANCH_NEQ", Branch::kMember}};
  auto found = kBranches.find(mode);
  if (found == kBranches.end())
    c.refuse(fmt::format("node mode '{}' is not supported", escape_for_display(std::string(mode))),
             "nodes must compare by <=, <, >=, >, == or !=");
  n.branch = found->second;
  if (n.branch == Branch::kMember) n.members = {n.threshold};
  if (mode != "BRANCH_NEQ") return;
  std::swap(n.if_true, n.if_false);
  n.nan_is_true = false;
}

using Places = std::map<std::pair<int64_t, int64_t>, int64_t>;  // of nodes, by tree and number

int64_t place_of(Call& c, const Places& places, int64_t tree, int64_t node) {
  auto found = places.find({tree, node});
  if (found == places.end()) c.refuse(fmt::format("tree {} has no node {}", tree, node));
  return found->second;
}

// What leaves hold is called by classes or by targets.
void add_weights(Call& c, const std::string& what, const Places& places, Forest& forest) {
  const std::vector<float> weights = float_list(c, what + "_weights");
  const Ints& ids = list(c, what + "_ids", weights.size());
  const Ints& nodes = list(c, what + "_nodeids", weights.size());
  const Ints& trees = list(c, what + "_treeids", weights.size());
  for (size_t i = 0; i < weights.size(); ++i)
    forest.nodes[static_cast<size_t>(place_of(c, places, trees[i], nodes[i]))].weights.emplace_back(ids[i], weights[i]);
}

Forest forest_of(Call& c, const std::string& what, int64_t targets) {
  Forest out;
  out.targets = targets;
  const Attribute* modes = c.find("nodes_modes");
  const size_t count = modes == nullptr ? 0 : modes->strings.size();
  const Ints &trees = list(c, "nodes_treeids", count), &ids = list(c, "nodes_nodeids", count);
  const Ints &features = list(c, "nodes_featureids", count), &yes = list(c, "nodes_truenodeids", count);
  const Ints& no = list(c, "nodes_falsenodeids", count);
  const Attribute* missing = c.find("nodes_missing_value_tracks_true");
  const std::vector<float> values = float_list(c, "nodes_values");
  if (values.size() != count || (missing != nullptr && !missing->ints.empty() && missing->ints.size() != count))
    c.refuse(fmt::format("nodes_values and nodes_missing_value_tracks_true must have {} elements, one for each node",
                         count));
  Places places;
  for (size_t i = 0; i < count; ++i) {
    if (!places.emplace(std::pair(trees[i], ids[i]), static_cast<int64_t>(i)).second)
      c.refuse(fmt::format("tree {} has node {} twice", trees[i], ids[i]));
    if (i > 0 && trees[i] == trees[i - 1]) continue;
    if (std::any_of(out.roots.begin(), out.roots.end(),
                    [&](int64_t r) { return trees[static_cast<size_t>(r)] == trees[i]; }))
      c.refuse("the nodes of a tree must be consecutive");
    out.roots.push_back(static_cast<int64_t>(i));
  }
  for (size_t i = 0; i < count; ++i) {
    TreeNode n;
    n.leaf = modes->strings[i] == "LEAF";
    if (!n.leaf) {
      n.nan_is_true = missing != nullptr && !missing->ints.empty() && missing->ints[i] != 0;
      n.feature = features[i];
      n.threshold = values[i];
      n.if_true = place_of(c, places, trees[i], yes[i]);
      n.if_false = place_of(c, places, trees[i], no[i]);
      set_branch(c, n, modes->strings[i]);
    }
    out.nodes.push_back(std::move(n));
  }
  add_weights(c, what, places, out);
  return out;
}

void put_sums(Call& c, Id sums, const Forest& forest, bool average) {
  Builder& b = c.b;
  const std::vector<float> base = float_list(c, "base_values");
  if (average) sums = b.binary("div", sums, static_cast<double>(forest.roots.size()));
  const auto count = static_cast<int64_t>(base.size());
  if (!base.empty() && count != forest.targets)
    c.refuse(fmt::format("base_values has {} elements, expected {}", count, forest.targets));
  if (!base.empty()) sums = b.binary("add", sums, b.floats_of(base, {count}));
  if (forest.targets == 1 && c.s("post_transform", "NONE") != "NONE")
    c.refuse("post_transform is not supported for a single target");
  c.out(0, transformed(c, sums));
}

bool is_average(Call& c) {
  std::string how = c.s("aggregate_function", "SUM");
  if (how != "SUM" && how != "AVERAGE")
    c.refuse(fmt::format("aggregate_function '{}' is not supported", escape_for_display(how)));
  return how == "AVERAGE";
}

void tree_ensemble_regressor(Call& c) {
  const int64_t targets = c.i("n_targets", 1);
  if (targets < 1 || targets > kMostTargets)
    c.refuse(fmt::format("n_targets is {}, but must be from 1 to {}", targets, kMostTargets));
  Forest forest = forest_of(c, "target", targets);
  put_sums(c, sums_of(c, features(c), forest), forest, is_average(c));
}

// Labels and scores of more than two classes.
void several_classes(Call& c, Id sums, const Scored& scored, const Ints& labels) {
  Builder& b = c.b;
  const std::vector<float> base = float_list(c, "base_values");
  const auto count = static_cast<int64_t>(labels.size());
  if (!base.empty() && base.size() != labels.size())
    c.refuse(fmt::format("base_values has {} elements, expected {}", base.size(), count));
  if (!scored.every && !scored.all_positive)
    c.refuse("negative weights are supported only if all leaves of a tree have weights for the same classes");
  if (!base.empty()) sums = b.binary("add", sums, b.floats_of(base, {count}));
  if (c.wants(1)) c.out(1, transformed(c, sums));
  if (!c.wants(0)) return;
  // A class that no leaf has is none that is found.
  std::vector<float> never(labels.size(), 0.0f);
  for (size_t i = 0; i < labels.size(); ++i)
    if (base.empty() && !scored.any[i]) never[i] = -std::numeric_limits<float>::infinity();
  if (std::count(never.begin(), never.end(), 0.0f) != count) sums = b.binary("add", sums, b.floats_of(never, {count}));
  c.out(0, label_of(c, sums, labels));
}

// Two classes, and weights of one of them: a score that speaks for the second.
void two_classes(Call& c, Id sum, const Scored& scored, bool first, const Ints& labels) {
  Builder& b = c.b;
  const std::vector<float> base = float_list(c, "base_values");
  if (base.size() > (first ? 1 : 0))
    c.refuse(
        fmt::format("base_values has {} elements, expected at most {}, because only one of two classes has weights",
                    base.size(), first ? 1 : 0));
  if (!base.empty()) sum = b.binary("add", sum, double{base[0]});
  if (c.wants(0)) {
    Id second = b.add("greater", {sum, b.filled(DType::kF32, scored.all_positive ? 0.5 : 0.0)}, {}, DType::kBool);
    c.out(0, label_at(c, b.cast(b.reshape(second, {b.shape(sum)[0]}), DType::kI32), labels));
  }
  if (!c.wants(1)) return;
  const std::string how = c.s("post_transform", "NONE");
  auto beside = [&](Id other) { return b.add("concatenation", {other, sum}, {{"axis", 1}}); };
  if (!first) c.out(1, transformed(c, beside(b.filled(DType::kF32, 0, b.shape(sum)))));
  else if (how == "LOGISTIC") c.out(1, transformed(c, beside(b.add("neg", {sum}))));
  else if (how == "NONE" || how == "SOFTMAX")
    c.out(1, beside(scored.all_positive ? b.binary("sub", 1.0, sum) : b.add("neg", {sum})));
  else c.refuse(fmt::format("post_transform '{}' is not supported", escape_for_display(how)));
}

// Two classes that both have weights: the second one if its score is positive, as in onnxruntime.
void both_classes(Call& c, Id sums, const Scored& scored, const Ints& labels) {
  Builder& b = c.b;
  const std::vector<float> base = float_list(c, "base_values");
  if (!scored.every || base.size() > 1)
    c.refuse(
        "two classes with weights are supported if all leaves of a tree have weights for the same classes, and "
        "base_values has at most one element",
        "export the weights of one class, as scikit-learn's converter does");
  if (!base.empty()) sums = b.binary("add", sums, b.floats_of({base[0], 0.0f}, {2}));
  if (c.wants(0)) {
    const int64_t rows = b.shape(sums)[0];
    Id second = b.reshape(b.slice(sums, {0, 1}, {rows, 1}), {rows});
    Id positive = b.add("greater", {second, b.filled(DType::kF32, 0)}, {}, DType::kBool);
    c.out(0, label_at(c, b.cast(positive, DType::kI32), labels));
  }
  if (c.wants(1)) c.out(1, transformed(c, sums));
}

void tree_ensemble_classifier(Call& c) {
  const Ints labels = labels_of(c, "classlabels_int64s");
  const auto count = static_cast<int64_t>(labels.size());
  if (count < 2 || count > kMostTargets)
    c.refuse(fmt::format("the operator has {} classes, expected 2 to {}", count, kMostTargets));
  Forest forest = forest_of(c, "class", count);
  Id x = features(c);
  Scored scored;
  if (count > 2) {
    Id sums = sums_of(c, x, forest);
    return several_classes(c, sums, scored_by(forest), labels);
  }
  // One score is enough where one class has weights.
  bool any[2] = {};
  for (const TreeNode& n : forest.nodes)
    for (auto [target, weight] : n.weights) {
      if (target != 0 && target != 1) c.refuse(fmt::format("a weight is for class {} of two", target));
      any[target] = true;
    }
  if (any[0] && any[1]) return both_classes(c, sums_of(c, x, forest), scored_by(forest), labels);
  const bool first = !any[1];
  for (TreeNode& n : forest.nodes)
    for (auto& [target, weight] : n.weights) target = 0;
  forest.targets = 1;
  Id sum = sums_of(c, x, forest);
  two_classes(c, sum, scored_by(forest), first, labels);
}

Ints known(Call& c, std::string_view name) {
  const Attribute* a = c.find(name);
  if (a == nullptr) return {};
  if (!a->tensor) return a->ints;
  return c.b.ints(c.tensor(*a)).value_or(Ints{});
}

// Its leaves have a list of their own, and its trees may share none of them.
struct NewForest {
  static constexpr int64_t kMember = 6;  // the mode BRANCH_MEMBER, behind those with a threshold

  Call& c;
  Ints features, yes, no, yes_leafs, no_leafs, modes, missing, leaf_targets;
  std::vector<float> splits, leaf_weights, members;
  Forest out;
  std::vector<std::vector<float>> sets;  // by node

  int64_t leaf(int64_t at) {
    if (at < 0 || at >= static_cast<int64_t>(leaf_targets.size()) || at >= static_cast<int64_t>(leaf_weights.size()))
      c.refuse(fmt::format("a node refers to leaf {}, which does not exist", at));
    TreeNode n;
    n.leaf = true;
    n.weights = {{leaf_targets[static_cast<size_t>(at)], leaf_weights[static_cast<size_t>(at)]}};
    out.nodes.push_back(std::move(n));
    return static_cast<int64_t>(out.nodes.size()) - 1;
  }

  // Both ways of a node of the file.
  void add(int64_t at, std::vector<std::pair<int64_t, int64_t>>& left) {
    static constexpr std::string_view kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                  "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    const auto i = static_cast<size_t>(at);
    if (modes[i] < 0 || modes[i] > kMember) c.refuse(fmt::format("node mode {} is not supported", modes[i]));
    TreeNode n;
    n.nan_is_true = !missing.empty() && missing[i] != 0;
    n.feature = features[i];
    n.threshold = splits[i];
    n.if_false = 0;  // which of the two sides each branch takes
    n.if_true = 1;
    if (modes[i] == kMember) {
      n.branch = Branch::kMember;
      n.members = sets[i];
    } else {
      set_branch(c, n, kModes[modes[i]]);
    }
    const bool exchanged = n.if_true == 0;
    out.nodes.push_back(n);
    const auto node = static_cast<int64_t>(out.nodes.size()) - 1;
    for (bool side : {false, true}) {
      const bool true_side = side != exchanged;
      const int64_t to = (true_side ? yes : no)[i];
      if ((true_side ? yes_leafs : no_leafs)[i] == 0) {
        left.emplace_back(to, 2 * node + (side ? 1 : 0));
        continue;
      }
      const int64_t made = leaf(to);
      (side ? out.nodes[static_cast<size_t>(node)].if_true : out.nodes[static_cast<size_t>(node)].if_false) = made;
    }
  }

  // Sets of values: those of a node end with NaN, and come in the order of the nodes.
  void read_sets() {
    sets.resize(splits.size());
    size_t at = 0;
    for (size_t i = 0; i < splits.size(); ++i) {
      if (modes[i] != kMember) continue;
      while (at < members.size() && !std::isnan(members[at])) sets[i].push_back(members[at++]);
      if (at++ >= members.size()) c.refuse("membership_values has fewer lists than nodes that need one");
    }
  }

  void add_tree(int64_t root) {
    out.roots.push_back(static_cast<int64_t>(out.nodes.size()));
    std::vector<std::pair<int64_t, int64_t>> left = {{root, -1}};
    size_t steps = 0;
    while (!left.empty()) {
      auto [at, from] = left.back();
      left.pop_back();
      if (at < 0 || at >= static_cast<int64_t>(splits.size()) || ++steps > splits.size())
        c.refuse("the nodes do not form trees");
      const auto made = static_cast<int64_t>(out.nodes.size());
      add(at, left);
      if (from < 0) continue;
      TreeNode& parent = out.nodes[static_cast<size_t>(from / 2)];
      (from % 2 == 1 ? parent.if_true : parent.if_false) = made;
    }
  }
};

void tree_ensemble(Call& c) {
  if (c.has(1)) c.refuse("only one operand is supported");
  NewForest f{c,
              known(c, "nodes_featureids"),
              known(c, "nodes_truenodeids"),
              known(c, "nodes_falsenodeids"),
              known(c, "nodes_trueleafs"),
              known(c, "nodes_falseleafs"),
              known(c, "nodes_modes"),
              known(c, "nodes_missing_value_tracks_true"),
              known(c, "leaf_targetids"),
              floats_of_tensor(c, "nodes_splits"),
              floats_of_tensor(c, "leaf_weights"),
              floats_of_tensor(c, "membership_values"),
              {},
              {}};
  for (const Ints* each : {&f.features, &f.yes, &f.no, &f.yes_leafs, &f.no_leafs, &f.modes})
    if (each->size() != f.splits.size()) c.refuse("the lists of nodes must have the same number of elements");
  if (!f.missing.empty() && f.missing.size() != f.splits.size())
    c.refuse("the lists of nodes must have the same number of elements");
  f.out.targets = c.i("n_targets", 1);
  const int64_t aggregate = c.i("aggregate_function", 1), transform = c.i("post_transform", 0);
  if (f.out.targets < 1 || f.out.targets > kMostTargets)
    c.refuse(fmt::format("n_targets is {}, but must be from 1 to {}", f.out.targets, kMostTargets));
  if (aggregate != 0 && aggregate != 1) c.refuse(fmt::format("aggregate_function {} is not supported", aggregate));
  if (transform != 0) c.refuse(fmt::format("post_transform {} is not supported", transform));
  f.read_sets();
  for (int64_t root : known(c, "tree_roots")) f.add_tree(root);
  const int32_t element = c.b.element(c.in(0));
  Id sums = sums_of(c, features(c), f.out);
  if (aggregate == 0) sums = c.b.binary("div", sums, static_cast<double>(f.out.roots.size()));
  c.out(0, c.b.as_element(sums, element));
}

constexpr Rule kTreeRules[] = {
    {"TreeEnsembleClassifier", 1, tree_ensemble_classifier, kDomain},
    {"TreeEnsembleRegressor", 1, tree_ensemble_regressor, kDomain},
    {"TreeEnsemble", 5, tree_ensemble, kDomain},
};

}  // namespace

}  // namespace classical

std::span<const Rule> tree_rules() { return classical::kTreeRules; }

}  // namespace aotc::frontends::onnx
