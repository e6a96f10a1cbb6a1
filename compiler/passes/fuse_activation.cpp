// SPDX-License-Identifier: Apache-2.0
#include "passes/pass.h"

#include <algorithm>

#include "ops/common/activation.h"
#include "ops/common/elementwise.h"
#include "passes/exhaustive.h"
#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::TensorId;
using ops::Activation;

namespace {

// The activation that does what `first` and then `second` do. All ranges hold 0, so two clamps in a
// row are one to the common part.
std::optional<Activation> compose(Activation first, Activation second) {
  ops::ClampF32 a = ops::float_clamp(first);
  ops::ClampF32 b = ops::float_clamp(second);
  for (size_t i = 0; i < ops::enum_names(Activation{}).size(); ++i) {
    ops::ClampF32 c = ops::float_clamp(static_cast<Activation>(i));
    if (c.min == std::max(a.min, b.min) && c.max == std::min(a.max, b.max)) return static_cast<Activation>(i);
  }
  return std::nullopt;
}

// Does the activation operator clamp every value of an 8- or 16-bit type to the range that a fused
// activation means?
bool is_fused_clamp(const Graph& graph, const Op& op, Activation activation) {
  const graph::TensorType& type = graph[op.results[0]].type;
  if (type.dtype != DType::kI8 && type.dtype != DType::kU8 && type.dtype != DType::kI16) return false;
  auto table = evaluate_all_values(graph, {&op});
  if (!table) return false;
  ops::ClampI32 clamp = ops::quantized_clamp(activation, type);
  const std::vector<int64_t> values = ops::widen(type.dtype, all_values(type.dtype));
  const std::vector<int64_t> results = ops::widen(type.dtype, *table);
  for (size_t i = 0; i < values.size(); ++i)
    if (results[i] != std::clamp<int64_t>(values[i], clamp.min, clamp.max)) return false;
  return true;
}

// The producer clamps; views between it and the activation show the clamped values.
bool fuse(Graph& graph, graph::UseDef& chains, int producer_at, const std::vector<int>& views, size_t at,
          Activation activation) {
  const Op op = graph.ops[at], producer = graph.ops[static_cast<size_t>(producer_at)];
  const graph::TensorType type = graph[op.results[0]].type, made = graph[producer.results[0]].type;
  if (graph[op.operands[0]].type != type || made.dtype != type.dtype || made.quantization != type.quantization)
    return false;
  auto text = attribute(producer, "activation");
  Activation present{};
  if (!text || !graph::attribute_text::parse_any(*text, present)) return false;
  auto both = compose(present, activation);
  if (!both) return false;
  if (type.dtype != DType::kF32 && !is_fused_clamp(graph, op, activation)) return false;
  Op fused = producer;
  fused.attributes = with_attribute(*producer.attributes, "activation", graph::attribute_text::print_any(*both));
  if (fused.attributes == nullptr || !is_valid(graph, fused)) return false;
  // From the producer on, each has the activation's tensor in its own shape; the last one is that itself.
  int definer = producer_at;
  TensorId result = op.results[0];
  for (size_t i = views.size(); i-- > 0; definer = views[i]) {
    Op& view = graph.ops[static_cast<size_t>(views[i])];
    const TensorId shown = add_tensor_like(graph, chains, result, graph[view.operands[0]].type, definer, views[i]);
    (definer == producer_at ? fused : graph.ops[static_cast<size_t>(definer)]).results[0] = shown;
    view.operands[0] = shown;
  }
  (definer == producer_at ? fused : graph.ops[static_cast<size_t>(definer)]).results[0] = result;
  // A later activation of this result then meets the producer.
  chains.definer[static_cast<size_t>(result.value)] = definer;
  graph.ops[static_cast<size_t>(producer_at)] = std::move(fused);
  return true;
}

}  // namespace

Status fuse_activation(Graph& graph, const PassOptions&, Diagnostics&) {
  graph::UseDef chains = graph::compute_use_def(graph);
  std::vector<bool> dead(graph.ops.size(), false);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    const auto* fusable = ops::definition_of(op).as<ops::Fusable>();
    auto activation = fusable != nullptr ? fusable->as_activation({graph, op}) : std::nullopt;
    if (!activation || !is_unary(op)) continue;
    std::vector<int> views;
    const int producer = producer_before_views(graph, chains, op.operands[0], static_cast<int>(i), views);
    if (producer >= 0) dead[i] = fuse(graph, chains, producer, views, i, *activation);
  }
  remove_ops(graph, dead);
  return success();
}

namespace {

bool fuse(Graph& graph, Op& producer, const Op& op, TensorId added) {
  if (graph[producer.results[0]].type != graph[op.results[0]].type) return false;
  const auto* target = ops::definition_of(producer).as<ops::Fusable>();
  if (target == nullptr || !target->takes_addition({graph, producer})) return false;
  const std::string free = graph::attribute_text::print_any(ops::Activation::kUnbounded);
  const auto before = attribute(producer, "activation"), after = attribute(op, "activation");
  if (before != free || !after) return false;
  Op fused = producer;
  while (!fused.operands.empty() && !fused.operands.back().valid()) fused.operands.pop_back();
  fused.operands.push_back(graph::constant_as_list(graph, added));
  fused.attributes = with_attribute(*producer.attributes, "activation", *after);
  fused.results[0] = op.results[0];
  if (fused.attributes == nullptr || !is_valid(graph, fused)) return false;
  producer = std::move(fused);
  return true;
}

}  // namespace

Status fuse_addition(Graph& graph, const PassOptions&, Diagnostics&) {
  graph::UseDef chains = graph::compute_use_def(graph);
  std::vector<bool> dead(graph.ops.size(), false);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const Op op = graph.ops[i];
    const auto* fusable = ops::definition_of(op).as<ops::Fusable>();
    const auto constant = fusable != nullptr ? fusable->as_addition({graph, op}) : std::nullopt;
    if (!constant) continue;
    const int producer = sole_producer(graph, chains, op.operands[1 - *constant], static_cast<int>(i));
    if (producer < 0) continue;
    dead[i] = fuse(graph, graph.ops[static_cast<size_t>(producer)], op, op.operands[*constant]);
    if (dead[i]) chains.definer[static_cast<size_t>(op.results[0].value)] = producer;
  }
  remove_ops(graph, dead);
  return success();
}

}  // namespace aotc::passes
