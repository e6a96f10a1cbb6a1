// SPDX-License-Identifier: Apache-2.0
// Passes that replace or remove one operator or a pair of operators.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "passes/exhaustive.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::TensorId;

Status generalize(Graph& graph, const PassOptions&, Diagnostics&) {
  for (Op& op : graph.ops) {
    auto general = ops::definition_of(op).generalized(graph, op);
    if (!general || !is_valid(graph, *general)) continue;
    general->device = op.device;
    op = std::move(*general);
  }
  return success();
}

namespace {

bool is_view(const Op& op) { return ops::definition_of(op).traits().view; }

// A view may look through the view before it when its own shape inference still agrees: always true
// of reshape, not of operators whose result shape depends on the operand's.
void look_through_views(Graph& graph, const std::vector<int>& definer, Op& op) {
  if (!is_view(op)) return;
  while (op.operands[0].valid()) {
    int before = definer[static_cast<size_t>(op.operands[0].value)];
    if (before < 0 || !is_view(graph.ops[static_cast<size_t>(before)])) return;
    if (graph.ops[static_cast<size_t>(before)].device != op.device) return;
    Op candidate = op;
    candidate.operands[0] = graph.ops[static_cast<size_t>(before)].operands[0];
    if (!is_valid(graph, candidate)) return;
    op = std::move(candidate);
  }
}

// KnownBytes knows of tensors of bytes which values their elements can have, where these are not all values. A Clip
// behind each quantisation bounds what the Clip behind the next one, of the same values, sees again.
class KnownBytes {
 public:
  explicit KnownBytes(const Graph& graph) : graph_(graph) {}

  // Call for each operator in order. Returns the tensor whose elements the result always has, in its type, maybe
  // quantised otherwise.
  std::optional<TensorId> add(const Op& op) {
    const auto from = op.results.size() == 1 ? one_operand(op) : std::nullopt;
    if (!from) return std::nullopt;
    const TensorId result = op.results[0];
    if (const auto found = values_.find(from->value); found != values_.end() && is_byte(result) && moves(op)) {
      values_[result.value] = with_fill(op, found->second);
      return std::nullopt;
    }
    auto function = function_of(op, *from);
    if (!function) return std::nullopt;
    const bool same = values_.contains(function->root.value) && function->results == function->values &&
                      graph_[function->root].type.dtype == graph_[result].type.dtype && is_byte(result);
    const TensorId root = function->root;
    if (is_byte(result)) note(result, function->results);
    functions_[result.value] = std::move(*function);
    return same ? std::optional(root) : std::nullopt;
  }

 private:
  // A tensor, element by element, of a tensor of bytes: its elements for those that the bytes can be.
  struct Function {
    TensorId root;
    std::vector<uint8_t> values, results;
  };

  static constexpr size_t kAll = 256;

  static void sort(std::vector<uint8_t>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  void note(TensorId id, std::vector<uint8_t> values) {
    sort(values);
    if (values.size() < kAll) values_[id.value] = std::move(values);
  }
  bool is_byte(TensorId id) const {
    const graph::TensorType& type = graph_[id].type;
    return (type.dtype == DType::kI8 || type.dtype == DType::kU8) && !type.quantization.per_channel();
  }
  // The only operand that is no constant.
  std::optional<TensorId> one_operand(const Op& op) const {
    std::optional<TensorId> out;
    for (TensorId id : op.operands) {
      if (!id.valid() || graph_.is_constant(id) || (out && *out == id)) continue;
      if (out) return std::nullopt;
      out = id;
    }
    return out;
  }
  // Of integers. What an activation bounds, fuse-activation takes care of.
  std::optional<Function> function_of(const Op& op, TensorId from) const {
    const graph::TensorType &type = graph_[op.results[0]].type, &operand = graph_[from].type;
    if (!is_int(type.dtype) || type.shape != operand.shape || !works_by_element(graph_, op) || is_activation(op))
      return std::nullopt;
    Function out{from, {}, {}};
    std::vector<uint8_t> elements;
    if (const auto found = functions_.find(from.value); found != functions_.end() && !is_byte(from)) {
      out = found->second;
      elements = std::move(out.results);
    } else if (is_byte(from)) {
      const auto known = values_.find(from.value);
      elements = known != values_.end() ? known->second : all_values(operand.dtype);
      out.values = elements;
    } else {
      return std::nullopt;
    }
    auto results = evaluate_rows(graph_, op, {{from.value, elements}});
    if (!results) return std::nullopt;
    out.results = std::move(*results);
    return out;
  }
  bool is_activation(const Op& op) const {
    const auto* fusable = ops::definition_of(op).as<ops::Fusable>();
    return fusable != nullptr && fusable->as_activation({graph_, op});
  }
  std::optional<ops::Padding> padding(const Op& op) const {
    const auto* fusable = ops::definition_of(op).as<ops::Fusable>();
    return fusable != nullptr ? fusable->as_padding({graph_, op}) : std::nullopt;
  }
  bool moves(const Op& op) const {
    const auto* transposable = ops::definition_of(op).as<ops::Transposable>();
    return is_view(op) || padding(op) || (transposable != nullptr && transposable->as_transposition({graph_, op}));
  }
  std::vector<uint8_t> with_fill(const Op& op, std::vector<uint8_t> values) const {
    if (const auto frame = padding(op)) values.push_back(frame->fill[0]);
    sort(values);
    return values;
  }

  const Graph& graph_;
  std::unordered_map<int32_t, std::vector<uint8_t>> values_;
  std::unordered_map<int32_t, Function> functions_;
};

// The same bytes in another quantisation. False if the operators are on several devices.
bool becomes_view(const Graph& graph, Op& op, TensorId bytes) {
  if (graph[bytes].device != graph[op.results[0]].device) return false;
  Op view = op;
  view.definition = ops::operators().find("as_stored");
  view.attributes = view.definition->default_attributes();
  view.operands = {bytes};
  if (!is_valid(graph, view)) return false;
  op = std::move(view);
  return true;
}

bool changes_nothing(const Graph& graph, const Op& op) {
  if (op.results.size() != 1 || op.operands.empty() || !op.operands[0].valid()) return false;
  const graph::TensorType& type = graph[op.results[0]].type;
  if (graph[op.operands[0]].type != type) return false;
  const auto* fusable = ops::definition_of(op).as<ops::Fusable>();
  if (is_view(op) || (fusable != nullptr && fusable->is_identity({graph, op}))) return true;
  return size_of(type.dtype) == 1 && is_identity_on_all_values(graph, {&op});
}

}  // namespace

Status remove_identities(Graph& graph, const PassOptions&, Diagnostics&) {
  std::vector<int> definer = graph::compute_use_def(graph).definer;
  std::vector<bool> dead(graph.ops.size(), false);
  KnownBytes known(graph);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    Op& op = graph.ops[i];
    look_through_views(graph, definer, op);
    std::optional<TensorId> same = known.add(op);
    if (same && graph[*same].type != graph[op.results[0]].type) {
      if (!is_view(op)) becomes_view(graph, op, *same);
      same = std::nullopt;
    }
    if (!same && changes_nothing(graph, op)) same = op.operands[0];
    dead[i] = same && replace_uses(graph, op.results[0], *same);
  }
  remove_ops(graph, dead);
  return success();
}

namespace {

bool is_conversion(const Op& op) { return ops::definition_of(op).traits().conversion; }

bool there_and_back(const Graph& graph, const Op& first, const Op& second, const PassOptions& options) {
  if (!is_unary(first) || !is_unary(second)) return false;
  if (graph[first.operands[0]].type != graph[second.results[0]].type) return false;
  if (options.remove_rounding && is_conversion(first) && is_conversion(second)) return true;
  return is_identity_on_all_values(graph, {&first, &second});
}

}  // namespace

Status remove_conversions(Graph& graph, const PassOptions& options, Diagnostics&) {
  std::vector<int> definer = graph::compute_use_def(graph).definer;
  std::vector<bool> dead(graph.ops.size(), false);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& second = graph.ops[i];
    if (second.operands.empty() || !second.operands[0].valid()) continue;
    int before = definer[static_cast<size_t>(second.operands[0].value)];
    if (before < 0) continue;
    const Op& first = graph.ops[static_cast<size_t>(before)];
    dead[i] =
        there_and_back(graph, first, second, options) && replace_uses(graph, second.results[0], first.operands[0]);
  }
  remove_ops(graph, dead);
  return success();
}

}  // namespace aotc::passes
