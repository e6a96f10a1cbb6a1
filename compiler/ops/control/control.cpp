// SPDX-License-Identifier: Apache-2.0
// if and while: operators that run regions. Their operands are what a region's inputs are, their results
// what its outputs are; the planner makes branches and loops of them, so they have no code of their own.
#include <fmt/format.h>

#include <stdexcept>

#include "ops/common/checks.h"

namespace aotc::ops {

namespace {

using graph::Graph;
using graph::Port;
using graph::TensorType;

// Without a signature: operands and results are those of the subgraphs.
class ControlOperator : public Operator {
 public:
  std::vector<TypeSupport> types() const override {
    std::vector<TypeSupport> out;
    for (DType t : {DType::kBool, DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kI64, DType::kF32})
      out.push_back({t, ""});
    return out;
  }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<graph::NoAttributes>();
  }
  bool has_lowering(const OpView&) const override { return true; }

  void evaluate(const OpView&, const EvalData&) const override {
    throw std::logic_error("regions are evaluated by evaluate_graph");
  }
  Lowered lower(const OpView&, const TargetInfo&) const override {
    throw std::logic_error("regions are lowered operator by operator");
  }
};

bool wrong(const OpView& op, Diagnostics& diags, std::string message) {
  diags.error(op.where(), "op-operands", std::move(message))
      .help("export the model again; the operator and its subgraphs do not fit together");
  return false;
}

const TensorType& type_of(const Graph& region, const Port& port) { return region[port.tensor].type; }

// Ports of a region against tensors of the operator, `from` the first of them.
bool same_types(const OpView& op, const Graph& region, const std::vector<Port>& ports,
                const std::vector<graph::TensorId>& tensors, size_t from, const char* what, Diagnostics& diags) {
  if (ports.size() + from != tensors.size())
    return wrong(op, diags,
                 fmt::format("'{}' has {} {}, the operator {}", escape_for_display(region.name), ports.size(), what,
                             tensors.size() - from));
  for (size_t i = 0; i < ports.size(); ++i) {
    const graph::TensorId id = tensors[from + i];
    if (!id.valid()) return wrong(op, diags, fmt::format("operand {} is absent", from + i));
    if (op.graph[id].type == type_of(region, ports[i])) continue;
    return wrong(op, diags,
                 fmt::format("of {} {} of '{}' is {}, the operator's {}", what, i, escape_for_display(region.name),
                             graph::to_string(type_of(region, ports[i])), graph::to_string(op.graph[id].type)));
  }
  return true;
}

bool is_condition(const TensorType& type) { return type.dtype == DType::kBool && type.elements() == 1; }

std::vector<graph::Shape> shapes_of(const Graph& region) {
  std::vector<graph::Shape> out;
  for (const Port& port : region.outputs) out.push_back(type_of(region, port).shape);
  return out;
}

class If final : public ControlOperator {
 public:
  std::string_view name() const override { return "if"; }
  std::string_view summary() const override { return "one of two subgraphs, as a condition says (IF)"; }
  Traits traits() const override { return {.control = Control::kIf}; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (op.op.regions.size() == 2 && !op.op.operands.empty()) return shapes_of(op.op.regions[0]);
    wrong(op, diags, "it needs a condition and two subgraphs");
    return kFailure;
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!op.has_operand(0) || !is_condition(op.operand(0)))
      return wrong(op, diags, "the condition is not one bool"), kFailure;
    for (const Graph& region : op.op.regions)
      if (!same_types(op, region, region.inputs, op.op.operands, 1, "inputs", diags) ||
          !same_types(op, region, region.outputs, op.op.results, 0, "outputs", diags))
        return kFailure;
    return success();
  }
};

class While final : public ControlOperator {
 public:
  std::string_view name() const override { return "while"; }
  std::string_view summary() const override { return "a subgraph again and again, while another says so (WHILE)"; }
  Traits traits() const override { return {.control = Control::kWhile}; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (op.op.regions.size() == 2) return shapes_of(op.op.regions[1]);
    wrong(op, diags, "it needs two subgraphs");
    return kFailure;
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    const Graph &condition = op.op.regions[0], &body = op.op.regions[1];
    if (condition.outputs.size() != 1 || !is_condition(type_of(condition, condition.outputs[0])))
      return wrong(op, diags, "the condition's subgraph does not give one bool"), kFailure;
    bool good = same_types(op, condition, condition.inputs, op.op.operands, 0, "inputs", diags) &&
                same_types(op, body, body.inputs, op.op.operands, 0, "inputs", diags) &&
                same_types(op, body, body.outputs, op.op.operands, 0, "outputs", diags) &&
                same_types(op, body, body.outputs, op.op.results, 0, "outputs", diags);
    return good ? success() : Status(kFailure);
  }
};

}  // namespace

void add_operators_control(OperatorSet& set) {
  set.add(std::make_unique<If>());
  set.add(std::make_unique<While>());
}

}  // namespace aotc::ops
