// SPDX-License-Identifier: Apache-2.0
// WrittenOut: matches patterns of operators backwards from a root operator, for written_out.h. A matched operator is
// called taken. If the root is replaced, its taken operators are removed.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "ops/common/binary.h"
#include "ops/operator.h"

namespace aotc::frontends::onnx {

class WrittenOut {
 public:
  using Graph = graph::Graph;
  using Op = graph::Op;
  using Id = graph::TensorId;

  WrittenOut(Graph& graph, const ops::OperatorSet& set) : graph_(graph), set_(set) {
    chains_ = graph::compute_use_def(graph);
    shown_.resize(graph.tensors.size(), false);
    for (const graph::Port& port : graph.outputs) shown_[index(port.tensor)] = true;
    dead_.resize(graph.ops.size(), false);
  }

 protected:
  static size_t index(Id id) { return static_cast<size_t>(id.value); }

  // Returns the operator that computes `id`, and takes it; null if it has another name or its result another type.
  const Op* made_by(Id id, std::string_view name, DType type = DType::kF32) {
    const int at = id.valid() && graph_[id].type.dtype == type ? chains_.definer[index(id)] : -1;
    if (at < 0 || dead_[static_cast<size_t>(at)]) return nullptr;
    const Op& op = graph_.ops[static_cast<size_t>(at)];
    if (op.name() != name || op.results.size() != 1 || !is_plain(op)) return nullptr;
    taken_.push_back(static_cast<size_t>(at));
    return &op;
  }

  static bool is_plain(const Op& op) {
    const std::string_view name = op.name();
    if (name != "add" && name != "sub" && name != "mul" && name != "div") return true;
    return op.attrs<ops::BinaryAttrs>().activation == ops::Activation::kUnbounded;
  }

  // The value of a float constant with one element; nullopt for any other tensor.
  std::optional<double> number(Id id) const {
    if (!id.valid()) return std::nullopt;
    const graph::Tensor& tensor = graph_[id];
    if (!tensor.constant || tensor.type.dtype != DType::kF32 || tensor.type.elements() != 1) return std::nullopt;
    return tensor.constant->get<float>(0);
  }

  static bool near(double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(b); }
  bool is(Id id, double value) const {
    const auto n = number(id);
    return n && near(*n, value);
  }

  // If one operand of a binary operator satisfies the predicate, returns the other operand.
  template <typename Is>
  static std::optional<Id> other(const Op& op, Is wanted) {
    for (size_t i : {0u, 1u})
      if (op.operands.size() == 2 && wanted(op.operands[i])) return op.operands[1 - i];
    return std::nullopt;
  }

  // ---- what may go

  // True if the results of taken operators are read only by taken operators and by the operator at `root`.
  bool nothing_else_reads(size_t root) const {
    auto inside = [&](int op) {
      const auto at = static_cast<size_t>(op);
      return at == root || std::find(taken_.begin(), taken_.end(), at) != taken_.end();
    };
    for (size_t at : taken_) {
      const Id id = graph_.ops[at].results[0];
      if (shown_[index(id)]) return false;
      const std::vector<int>& users = chains_.users[index(id)];
      if (!std::all_of(users.begin(), users.end(), inside)) return false;
    }
    return true;
  }

  // Replaces the operator at `root`.
  bool replace(size_t root, std::string_view name, std::vector<Id> operands,
               std::shared_ptr<graph::AttributesBase> attributes) {
    if (!nothing_else_reads(root)) return false;
    Op op = graph_.ops[root];
    op.definition = set_.find(name);
    op.operands = std::move(operands);
    op.attributes = std::move(attributes);
    Diagnostics unheard;
    if (op.definition == nullptr || !ops::verify_op({graph_, op}, unheard)) return false;
    for (size_t at : taken_) dead_[at] = true;
    // The operands gain a reader. The readers of removed results need no update, because they are removed as well.
    for (Id id : op.operands)
      if (id.valid()) chains_.users[index(id)].push_back(static_cast<int>(root));
    graph_.ops[root] = std::move(op);
    return true;
  }

  bool begins_at(size_t root, std::string_view name) {
    taken_.clear();
    const Op& op = graph_.ops[root];
    return op.name() == name && op.results.size() == 1 && graph_[op.results[0]].type.dtype == DType::kF32 &&
           is_plain(op);
  }

  Graph& graph_;
  const ops::OperatorSet& set_;
  graph::UseDef chains_;
  std::vector<bool> shown_;    // by tensor: true for outputs of the graph
  std::vector<bool> dead_;     // operators
  std::vector<size_t> taken_;  // matched operators, which a replacement of the root makes redundant
};

}  // namespace aotc::frontends::onnx
