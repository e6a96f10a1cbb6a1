// SPDX-License-Identifier: Apache-2.0
// tree_ensemble: verification and evaluation, straight from the operands.
#include "ops/trees/trees.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/signature.h"
#include "ops/trees/attributes.h"

namespace aotc::ops {

namespace trees {

namespace {

template <typename T>
std::span<const T> constant_of(const OpView& op, size_t i) {
  const graph::ConstantView* c = op.constant(i);
  return {reinterpret_cast<const T*>(c->bytes.data()), c->bytes.size() / sizeof(T)};
}

}  // namespace

Tables tables_of(const OpView& op) {
  Tables out;
  out.columns = constant_of<int32_t>(op, kColumns);
  out.thresholds = constant_of<float>(op, kThresholds);
  out.nodes = constant_of<int32_t>(op, kNodes);
  out.trees = constant_of<int32_t>(op, kTrees);
  out.leaves = constant_of<float>(op, kLeaves);
  out.values = op.operand(kLeaves).shape[1];
  return out;
}

}  // namespace trees

namespace {

using trees::Tables;

// What is wrong with the numbers, or nothing.
std::string problem_of(const Tables& t, int64_t features, int64_t targets) {
  for (int64_t c = 0; c < t.column_count(); ++c)
    if (t.feature(c) < 0 || t.feature(c) >= features || t.columns[static_cast<size_t>(2 * c + 1)] < 0 ||
        t.columns[static_cast<size_t>(2 * c + 1)] > 1)
      return fmt::format("column {} is of no feature", c);
  if (std::any_of(t.thresholds.begin(), t.thresholds.end(), [](float v) { return std::isnan(v); }))
    return "a threshold is not a number";
  for (int64_t i = 0; i < t.node_count(); ++i) {
    const trees::Node n = t.node(i);
    const auto indices = static_cast<int64_t>(n.skip == 0 ? t.leaf_count() : t.thresholds.size());
    bool leads_on =
        n.skip == 0 || (n.skip > 0 && n.skip < t.node_count() - i && n.column >= 0 && n.column < t.column_count());
    if (!leads_on || n.index < 0 || n.index >= indices) return fmt::format("node {} leads nowhere", i);
  }
  for (int64_t i = 0; i < t.tree_count(); ++i)
    if (t.root(i) < 0 || t.root(i) >= t.node_count() || t.target(i) < 0 || t.target(i) + t.values > targets)
      return fmt::format("tree {} begins or ends nowhere", i);
  return {};
}

class TreeEnsemble final : public SpecifiedOperator {
 public:
  TreeEnsemble()
      : SpecifiedOperator(
            {.name = "tree_ensemble",
             .summary = "sums of the leaves of decision trees",
             .operands = {{.name = "x", .types = {{DType::kF32, "constant trees"}}, .ranks = {2, 2}},
                          {.name = "columns", .types = {DType::kI32}, .constant = true, .ranks = {2, 2}},
                          {.name = "thresholds", .types = {DType::kF32}, .constant = true, .ranks = {1, 1}},
                          {.name = "nodes", .types = {DType::kI32}, .constant = true, .ranks = {2, 2}},
                          {.name = "trees", .types = {DType::kI32}, .constant = true, .ranks = {2, 2}},
                          {.name = "leaves", .types = {DType::kF32}, .constant = true, .ranks = {2, 2}}},
             .results = {{.name = "y"}},
             .shapes = Shapes::kOwn,
             .attributes = make_attributes<TreeEnsembleAttrs>,
             .ranges = {within<&TreeEnsembleAttrs::targets>("targets", 1, INT32_MAX)}}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    const Tables t = trees::tables_of(op);
    const int64_t features = op.operand(0).shape[1], targets = op.result().shape[1];
    auto in = data.in<float>(0);
    auto out = data.out<float>();
    std::fill(out.begin(), out.end(), 0.0f);
    for (int64_t row = 0; row < op.result().shape[0]; ++row)
      for (int64_t tree = 0; tree < t.tree_count(); ++tree) {
        int64_t at = t.root(tree);
        for (trees::Node n = t.node(at); n.skip != 0; n = t.node(at)) {
          float x = in[static_cast<size_t>(row * features + t.feature(n.column))];
          bool next = std::isnan(x) ? t.nan_is_next(n.column) : x <= t.thresholds[static_cast<size_t>(n.index)];
          at += next ? 1 : n.skip;
        }
        const int64_t leaf = t.node(at).index;
        for (int64_t v = 0; v < t.values; ++v)
          out[static_cast<size_t>(row * targets + t.target(tree) + v)] +=
              t.leaves[static_cast<size_t>(leaf * t.values + v)];
      }
  }

  Lowered lower(const OpView& op, const TargetInfo& target) const override { return trees::lower(op, target); }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics&) const override {
    return std::vector<graph::Shape>{{op.operand(0).shape[0], op.attrs<TreeEnsembleAttrs>().targets}};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    static constexpr int64_t kWidths[] = {-1, 2, -1, 3, 2, -1};
    for (size_t i = 1; i < std::size(kWidths); ++i) {
      const graph::Shape& shape = op.operand(i).shape;
      if ((kWidths[i] >= 0 && shape[1] != kWidths[i]) || shape[0] < (i == trees::kThresholds ? 0 : 1) ||
          op.operand(i).elements() < 0)
        return bad_shape(op, diags, fmt::format("operand {} of tree_ensemble is no table", i));
    }
    std::string problem =
        problem_of(trees::tables_of(op), op.operand(0).shape[1], op.attrs<TreeEnsembleAttrs>().targets);
    return problem.empty() || bad_attribute(op, diags, problem);
  }
};

}  // namespace

void add_coupled_probabilities(OperatorSet& set);  // pairs.cpp

void add_operators_trees(OperatorSet& set) {
  set.add(std::make_unique<TreeEnsemble>());
  add_coupled_probabilities(set);
}

}  // namespace aotc::ops
