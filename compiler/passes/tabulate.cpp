// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ops/interfaces.h"
#include "passes/exhaustive.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::TensorId;
using graph::TensorType;

namespace {

// A tensor as a function of the elements of another one.
struct Function {
  // One operator that computes something. All such operators of a function are on one device.
  std::optional<size_t> step;
  bool several = false;  // more than one operator computes something
  TensorId root;
  std::vector<uint8_t> values;  // for all values of the root's type

  void add_step(size_t at) {
    several = several || (step && *step != at);
    step = at;
  }
};

class Tabulation {
 public:
  explicit Tabulation(Graph& graph) : graph_(graph), chains_(graph::compute_use_def(graph)) {}

  void run() {
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      auto found = function_of(i);
      if (!found) continue;
      const TensorId result = graph_.ops[i].results[0];
      if (is_byte(graph_[result].type) && found->several && saves_an_operator(i)) replace(i, *found);
      functions_.emplace(result.value, std::move(*found));
    }
  }

 private:
  static bool is_byte(const TensorType& type) {
    return (type.dtype == DType::kI8 || type.dtype == DType::kU8) && !type.quantization.per_channel();
  }

  // What operand `id` is a function of: itself if nothing else is known.
  std::optional<TensorId> root_of(TensorId id) const {
    auto known = functions_.find(id.value);
    if (known != functions_.end()) return known->second.root;
    return is_byte(graph_[id].type) ? std::optional(id) : std::nullopt;
  }

  std::optional<Function> function_of(size_t at) const {
    const Op& op = graph_.ops[at];
    if (!works_by_element(graph_, op)) return std::nullopt;
    Function out;
    Rows rows;
    for (TensorId id : op.operands) {
      if (!id.valid() || graph_.is_constant(id)) continue;
      const auto root = root_of(id);
      if (!root || (out.root.valid() && out.root != *root)) return std::nullopt;
      if (graph_[id].type.shape != graph_[op.results[0]].type.shape) return std::nullopt;
      out.root = *root;
      auto known = functions_.find(id.value);
      if (known != functions_.end() && known->second.step) {
        if (graph_.ops[*known->second.step].device != op.device) return std::nullopt;
        out.several = out.several || known->second.several;
        out.add_step(*known->second.step);
      }
      rows[id.value] = known != functions_.end() ? known->second.values : all_values(graph_[id].type.dtype);
    }
    if (!out.root.valid()) return std::nullopt;
    auto values = evaluate_rows(graph_, op, rows);
    if (!values) return std::nullopt;
    out.values = std::move(*values);
    if (!ops::definition_of(op).traits().view) out.add_step(at);
    return out;
  }

  // Nothing else reads an operand that is no root.
  bool saves_an_operator(size_t at) const {
    const std::vector<TensorId>& operands = graph_.ops[at].operands;
    return std::any_of(operands.begin(), operands.end(), [&](TensorId id) {
      return functions_.contains(id.value) && sole_producer(graph_, chains_, id, static_cast<int>(at)) >= 0;
    });
  }

  void replace(size_t at, const Function& function) {
    const Op& op = graph_.ops[at];
    TensorType type = graph_[op.results[0]].type;
    type.shape = {static_cast<int64_t>(function.values.size())};
    type.quantization = {};
    Op table = op;
    table.definition = ops::operators().find("byte_table");
    table.attributes = table.definition->default_attributes();
    table.operands = {function.root,
                      graph_.add_constant(graph_[op.results[0]].name + "/table", std::move(type), function.values)};
    if (is_valid(graph_, table)) graph_.ops[at] = std::move(table);
  }

  Graph& graph_;
  graph::UseDef chains_;  // before the pass
  std::unordered_map<int32_t, Function> functions_;
};

}  // namespace

Status tabulate(Graph& graph, const PassOptions&, Diagnostics&) {
  const auto bytes = [](const graph::Tensor& t) { return t.type.dtype == DType::kI8 || t.type.dtype == DType::kU8; };
  if (std::any_of(graph.tensors.begin(), graph.tensors.end(), bytes)) Tabulation(graph).run();
  return success();
}

}  // namespace aotc::passes
