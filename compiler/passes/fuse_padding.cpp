// SPDX-License-Identifier: Apache-2.0
#include "passes/pass.h"

#include <algorithm>
#include <cmath>

#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::TensorId;

namespace {

// NHWC: only height and width can be padded by a window operator.
bool pads_height_and_width_only(const ops::Padding& padding) {
  if (padding.before.size() != 4 || padding.after.size() != 4) return false;
  for (size_t axis : {0u, 3u})
    if (padding.before[axis] != 0 || padding.after[axis] != 0) return false;
  auto negative = [](int64_t count) { return count < 0; };
  return std::none_of(padding.before.begin(), padding.before.end(), negative) &&
         std::none_of(padding.after.begin(), padding.after.end(), negative);
}

bool fills_with_zero(const ops::Padding& padding, const graph::TensorType& type) {
  if (padding.fill.size() != static_cast<size_t>(size_of(type.dtype))) return false;
  if (type.quantization.per_channel()) return false;
  // All bytes of a float +0 are 0; -0 is another value.
  int64_t zero = is_float(type.dtype) ? 0 : type.zero_point();
  for (size_t i = 0; i < padding.fill.size(); ++i)
    if (padding.fill[i] != static_cast<uint8_t>(static_cast<uint64_t>(zero) >> (8 * i))) return false;
  return true;
}

// Zeros times anything finite add nothing to a float sum; times infinity they would.
bool has_finite_weights(const Graph& graph, const Op& op) {
  for (size_t i = 1; i < op.operands.size(); ++i) {
    TensorId id = op.operands[i];
    if (!id.valid() || !is_float(graph[id].type.dtype)) continue;
    if (!graph.is_constant(id) || graph[id].type.dtype != DType::kF32) return false;
    const graph::ConstantView& constant = *graph[id].constant;
    for (int64_t k = 0; k < graph[id].type.elements(); ++k)
      if (!std::isfinite(constant.get<float>(k))) return false;
  }
  return true;
}

// The op's attributes with the padding added; null if it has no such attributes or they overflow.
std::shared_ptr<const graph::AttributesBase> add_padding(const Op& op, const ops::Padding& padding) {
  struct Side {
    const char* name;
    int64_t more;
  };
  const Side sides[] = {{"pad_top", padding.before[1]},
                        {"pad_left", padding.before[2]},
                        {"pad_bottom", padding.after[1]},
                        {"pad_right", padding.after[2]}};
  std::shared_ptr<graph::AttributesBase> attributes = op.attributes->clone();
  for (const Side& side : sides) {
    auto text = attribute(op, side.name);
    int64_t present = 0;
    if (!text || !graph::attribute_text::parse(*text, present)) return nullptr;
    // The field is 32 bits wide; parse refuses more.
    if (side.more > INT32_MAX || !attributes->parse(side.name, graph::attribute_text::print(present + side.more)))
      return nullptr;
  }
  return attributes;
}

// The padding under another shape, which differs in dimensions of size 1; nullopt for other shapes.
std::optional<ops::Padding> padding_of_view(const ops::Padding& padding, const graph::Shape& from,
                                            const graph::Shape& to) {
  ops::Padding out{{}, {}, padding.fill};
  size_t at = 0;
  auto skips = [&] { return at < from.size() && from[at] == 1 && padding.before[at] == 0 && padding.after[at] == 0; };
  for (int64_t size : to) {
    while (size != 1 && skips()) ++at;
    const bool same = at < from.size() && from[at] == size;
    if (!same && size != 1) return std::nullopt;
    out.before.push_back(same ? padding.before[at] : 0);
    out.after.push_back(same ? padding.after[at] : 0);
    at += same ? 1 : 0;
  }
  while (skips()) ++at;
  return at == from.size() ? std::optional(out) : std::nullopt;
}

std::optional<ops::Padding> padding_of(const Graph& graph, const Op& pad) {
  const auto* fusable = ops::definition_of(pad).as<ops::Fusable>();
  return fusable != nullptr ? fusable->as_padding({graph, pad}) : std::nullopt;
}

// Where a view with several dimensions more or less stands behind the padding (view >= 0), it shows the tensor that is
// not padded.
bool fuse(Graph& graph, graph::UseDef& chains, int pad_at, int view_at, int user_at) {
  const Op pad = graph.ops[static_cast<size_t>(pad_at)], user = graph.ops[static_cast<size_t>(user_at)];
  auto padding = padding_of(graph, pad);
  const graph::TensorType from = graph[pad.operands[0]].type, to = graph[user.operands[0]].type;
  if (padding && view_at >= 0) padding = padding_of_view(*padding, graph[pad.results[0]].type.shape, to.shape);
  if (!padding || !pads_height_and_width_only(*padding)) return false;
  if (from.dtype != to.dtype || from.quantization != to.quantization) return false;
  if (!fills_with_zero(*padding, to) || !has_finite_weights(graph, user)) return false;
  // What quantises its rows itself rounds elements by their place in them.
  if (is_float(to.dtype) && graph[user.operands[1]].type.dtype != to.dtype) return false;
  Op fused = user;
  fused.attributes = add_padding(user, *padding);
  fused.operands[0] = pad.operands[0];
  if (fused.attributes == nullptr) return false;
  if (view_at < 0) {
    if (!is_valid(graph, fused)) return false;
    graph.ops[static_cast<size_t>(user_at)] = std::move(fused);
    return true;
  }
  Op view = graph.ops[static_cast<size_t>(view_at)];
  graph::TensorType shown = to;
  for (size_t d = 0; d < shown.shape.size(); ++d) shown.shape[d] -= padding->before[d] + padding->after[d];
  view.operands[0] = pad.operands[0];
  view.attributes = with_attribute(*view.attributes, "shape", graph::attribute_text::print(shown.shape));
  if (view.attributes == nullptr) return false;
  view.results[0] = fused.operands[0] =
      add_tensor_like(graph, chains, pad.operands[0], std::move(shown), view_at, user_at);
  if (!is_valid(graph, view) || !is_valid(graph, fused)) return false;
  graph.ops[static_cast<size_t>(view_at)] = std::move(view);
  graph.ops[static_cast<size_t>(user_at)] = std::move(fused);
  auto& readers = chains.users[static_cast<size_t>(pad.operands[0].value)];
  std::replace(readers.begin(), readers.end(), pad_at, view_at);
  return true;
}

}  // namespace

Status fuse_padding(Graph& graph, const PassOptions&, Diagnostics&) {
  graph::UseDef chains = graph::compute_use_def(graph);
  std::vector<bool> dead(graph.ops.size(), false);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    if (!ops::definition_of(graph.ops[i]).traits().zero_pads || graph.ops[i].operands.empty()) continue;
    // A loop, because a padding may itself read a padded tensor.
    int reader = static_cast<int>(i);
    while (true) {
      std::vector<int> views;
      const int before = producer_before_views(graph, chains, graph.ops[i].operands[0], reader, views);
      const int view = views.empty() ? -1 : views[0];
      if (before < 0 || views.size() > 1 || !fuse(graph, chains, before, view, static_cast<int>(i))) break;
      dead[static_cast<size_t>(before)] = true;
      reader = view < 0 ? before : static_cast<int>(i);
    }
  }
  remove_ops(graph, dead);
  return success();
}

}  // namespace aotc::passes
