// SPDX-License-Identifier: Apache-2.0
// Operators that LiteRT runs on stored values without a look at their scales (Rule::is_stored). Within the graph such
// an operator has one quantisation: as_stored, a view, gives operands that of result 0, and gives further results
// theirs. Passes may then assume that operators that copy values do not change them.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tflite/operators.h"

namespace aotc::frontends {

namespace {

bool is_quantised_type(DType type) { return type == DType::kI8 || type == DType::kU8 || type == DType::kI16; }

bool differs(const graph::TensorType& a, const graph::TensorType& b) {
  return a.dtype == b.dtype && is_quantised_type(a.dtype) && !a.quantization.per_channel() &&
         !b.quantization.per_channel() &&
         (a.quantization.scale != b.quantization.scale || a.quantization.zero_point != b.quantization.zero_point);
}

std::string quantization_text(const graph::TensorType& type) {
  if (type.quantization.scale.empty()) return "none";
  return fmt::format("scale {} and zero point {}", type.quantization.scale[0], type.zero_point());
}

}  // namespace

// A tensor like `id` with the quantisation of `like`.
bool OperatorReader::stored_tensor(Build& build, graph::TensorId id, const graph::TensorType& like, const Location& at,
                                   graph::TensorId& out, Diagnostics& told) {
  graph::TensorType type = build.graph[id].type;
  type.quantization = like.quantization;
  if (!add_counterpart(build, id, " (stored)", std::move(type), at, out, told)) return false;
  build.graph[out].constant = build.graph[id].constant;
  if (build.twins.contains(id)) build.twins.insert(out);
  return true;
}

void OperatorReader::add_as_stored(Build& build, graph::TensorId from, graph::TensorId to, const Location& at) const {
  graph::Op op;
  op.definition = set_.find("as_stored");
  op.attributes = op.definition->default_attributes();
  op.operands = {from};
  op.results = {to};
  op.location = at;
  build.graph.ops.push_back(std::move(op));
  build.folded.push_back(false);
}

// Before the operator is imported: operands and results of one quantisation.
bool OperatorReader::share_quantization(size_t index, Build& build, graph::Op& op, Diagnostics& told) {
  const tflite::Rule* rule = resolved_[index].rule;
  if (rule == nullptr || rule->is_stored == nullptr || op.results.empty() || set_.find("as_stored") == nullptr)
    return true;
  const graph::TensorType type = build.graph[op.results[0]].type;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    graph::TensorId& id = op.operands[i];
    // A count is known of the file's tensor only.
    if (!id.valid() || counted_.contains(id) || !rule->is_stored({build.graph, op}, i) ||
        !differs(build.graph[id].type, type))
      continue;
    note_scales(op.location, build.graph[id].type, type);
    const auto key = std::make_pair(id, op.results[0]);  // an operator may be read twice
    const auto known = build.stored.find(key);
    const bool is_new = known == build.stored.end();
    graph::TensorId shared = is_new ? graph::TensorId{} : known->second;
    if (is_new) {
      if (!stored_tensor(build, id, type, op.location, shared, told)) return false;
      build.stored.emplace(key, shared);
      if (!build.graph[id].constant) add_as_stored(build, id, shared, op.location);
    }
    id = shared;
  }
  for (size_t r = 1; r < op.results.size(); ++r) {
    graph::TensorId& id = op.results[r];
    if (!differs(build.graph[id].type, type)) continue;
    note_scales(op.location, type, build.graph[id].type);
    graph::TensorId shared;
    if (!stored_tensor(build, id, type, op.location, shared, told)) return false;
    build.results_stored[index].emplace_back(shared, id);
    id = shared;
  }
  return true;
}

// Behind the operator: further results have their own quantisation again.
void OperatorReader::restore_results(size_t index, Build& build, const graph::Op& op) const {
  const auto found = build.results_stored.find(index);
  if (found == build.results_stored.end()) return;
  for (const auto& [from, to] : found->second) {
    if (std::find(op.results.begin(), op.results.end(), from) == op.results.end()) continue;
    const graph::Tensor& shared = build.graph[from];
    build.graph[to].type.shape = shared.type.shape;
    build.derived[static_cast<size_t>(to.value)] = build.derived[static_cast<size_t>(from.value)];
    if (shared.constant) build.graph[to].constant = shared.constant;
    else add_as_stored(build, from, to, op.location);
  }
}

void OperatorReader::note_scales(const Location& at, const graph::TensorType& from, const graph::TensorType& to) {
  if (at.op_index == source_.scales.last_op && at.subgraph == source_.scales.last_subgraph) return;
  if (source_.scales.operators++ == 0) {
    source_.scales.first = at;
    source_.scales.text = fmt::format("{} to {}", quantization_text(from), quantization_text(to));
  }
  source_.scales.last_subgraph = at.subgraph;
  source_.scales.last_op = at.op_index;
}

void report_scales(const StoredScales& scales, Diagnostics& diags) {
  if (scales.operators == 0) return;
  Diagnostic& d = diags.warning(
      scales.first, "scales-ignored",
      fmt::format(
          "values are copied from {} without rescaling, as in LiteRT, so the copies represent other real numbers",
          scales.text));
  if (scales.operators > 1)
    d.note(fmt::format("{} more operator{}", scales.operators - 1, scales.operators > 2 ? "s" : ""));
  d.help("if the scales are far apart, quantise the model again so that both tensors have the same scale");
}

}  // namespace aotc::frontends
