// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse_padding.h"

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

bool fuse(Graph& graph, const Op& pad, Op& user) {
  const auto* fusable = ops::definition_of(pad).as<ops::Fusable>();
  auto padding = fusable != nullptr ? fusable->as_padding({graph, pad}) : std::nullopt;
  if (!padding || !pads_height_and_width_only(*padding)) return false;
  const graph::TensorType& from = graph[pad.operands[0]].type;
  const graph::TensorType& to = graph[pad.results[0]].type;
  if (from.dtype != to.dtype || from.quantization != to.quantization) return false;
  if (!fills_with_zero(*padding, to) || !has_finite_weights(graph, user)) return false;
  // What quantises its rows itself rounds elements by their place in them.
  if (is_float(to.dtype) && graph[user.operands[1]].type.dtype != to.dtype) return false;
  Op fused = user;
  fused.attributes = add_padding(user, *padding);
  fused.operands[0] = pad.operands[0];
  if (fused.attributes == nullptr || !is_valid(graph, fused)) return false;
  user = std::move(fused);
  return true;
}

}  // namespace

Status fuse_padding(Graph& graph, const PassOptions&, Diagnostics&) {
  graph::UseDef chains = graph::compute_use_def(graph);
  std::vector<bool> dead(graph.ops.size(), false);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    Op& user = graph.ops[i];
    if (!ops::definition_of(user).traits().zero_pads || user.operands.empty()) continue;
    // A loop, because a padding may itself read a padded tensor.
    int reader = static_cast<int>(i);
    while (true) {
      int before = sole_producer(graph, chains, user.operands[0], reader);
      if (before < 0 || !fuse(graph, graph.ops[static_cast<size_t>(before)], user)) break;
      dead[static_cast<size_t>(before)] = true;
      reader = before;
    }
  }
  remove_ops(graph, dead);
  return success();
}

}  // namespace aotc::passes
