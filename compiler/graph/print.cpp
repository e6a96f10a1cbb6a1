// SPDX-License-Identifier: Apache-2.0
// The text form of the graph IR, written. parse.cpp reads it; docs/ir.md describes it.
#include <fmt/format.h>

#include "graph/constant_text.h"
#include "graph/graph.h"

namespace aotc::graph {

namespace {

std::string quoted(const std::string& text) { return attribute_text::print(text); }

std::string print_quantization(const Quantization& q) {
  if (q.scale.size() == 1 && q.zero_point.size() == 1 && q.axis == 0)
    return fmt::format(" quant({}, {})", attribute_text::print(q.scale[0]), q.zero_point[0]);
  std::string out = fmt::format(" quant(axis {}, [", q.axis);
  for (size_t i = 0; i < q.scale.size(); ++i) out += (i > 0 ? ", " : "") + attribute_text::print(q.scale[i]);
  out += "]";
  // Zero points are all 0 in nearly every per-channel tensor.
  if (q.zero_point != std::vector<int64_t>(q.scale.size(), 0))
    out += fmt::format(", [{}]", fmt::join(q.zero_point, ", "));
  return out + ")";
}

std::string print_location(const Location& where) {
  std::string out = "loc(" + quoted(where.file);
  if (where.line != 0 || where.column != 0) out += fmt::format(":{}:{}", where.line, where.column);
  if (where.subgraph != -1) out += fmt::format(" subgraph {}", where.subgraph);
  if (where.op_index != -1) out += fmt::format(" op {}", where.op_index);
  if (!where.op_type.empty()) out += " type " + quoted(where.op_type);
  if (!where.tensor.empty()) out += " tensor " + quoted(where.tensor);
  return out + ")";
}

class Printer {
 public:
  Printer(const Graph& graph, const PrintOptions& options, std::string indent = "  ")
      : graph_(graph), options_(options), indent_(std::move(indent)), declared_(graph.tensors.size(), false) {}

  std::string run() {
    out_ = "graph " + quoted(graph_.name);
    if (options_.locations) out_ += " source " + quoted(graph_.source_file);
    if (!graph_.description.empty()) out_ += " description " + quoted(graph_.description);
    out_ += " {\n" + body();
    return out_ + "}\n";
  }

  // The statements, one a line.
  std::string body() {
    std::string before = std::move(out_);
    out_.clear();
    for (const Port& port : graph_.inputs) print_port("input", port);
    for (const State& state : graph_.states) print_state(state);
    print_undefined_tensors();
    for (const Op& op : graph_.ops) print_op(op);
    for (const Port& port : graph_.outputs) print_port("output", port);
    for (const State& state : graph_.states)
      out_ += indent_ + fmt::format("next {} = {}\n", shown(state.before, false), shown(state.after, false));
    std::swap(before, out_);
    return before;
  }

 private:
  // "%3", with the declaration the first time unless `reference` says it is elsewhere.
  std::string shown(TensorId id, bool declare) {
    if (!id.valid()) return "_";
    std::string out = fmt::format("%{}", id.value);
    if (!declare || declared_[static_cast<size_t>(id.value)]) return out;
    declared_[static_cast<size_t>(id.value)] = true;
    const Tensor& tensor = graph_[id];
    out += " " + quoted(tensor.name) + " " + to_string(tensor.type);
    if (tensor.device != 0) out += fmt::format(" device {}", tensor.device);
    return out;
  }

  void print_port(const char* keyword, const Port& port) {
    // A constant cannot be declared by a port line, even in a graph that is wrong.
    bool declare = port.tensor.valid() && !graph_[port.tensor].constant && std::string_view(keyword) == "input";
    out_ += indent_ + fmt::format("{} {}", keyword, shown(port.tensor, declare));
    if (!port.tensor.valid() || port.name != graph_[port.tensor].name) out_ += " as " + quoted(port.name);
    out_ += "\n";
  }

  void print_state(const State& state) {
    bool declare = state.before.valid() && !graph_[state.before].constant;
    DType type = state.before.valid() ? graph_[state.before].type.dtype : DType::kU8;
    out_ += indent_ + "state " + shown(state.before, declare) + " = " +
            print_constant(type, state.initial, options_.constants_limit) + "\n";
  }

  // Constants, and tensors that neither an input nor an operator declares.
  void print_undefined_tensors() {
    std::vector<bool> defined = declared_;
    for (const Op& op : graph_.ops)
      for (TensorId id : op.results)
        if (id.valid()) defined[static_cast<size_t>(id.value)] = true;
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      TensorId id{static_cast<int32_t>(i)};
      const Tensor& tensor = graph_[id];
      if (tensor.constant) {
        out_ += indent_ + "const " + shown(id, true) + " = " +
                print_constant(tensor.type.dtype, *tensor.constant, options_.constants_limit) + "\n";
      } else if (!defined[i]) {
        out_ += indent_ + "tensor " + shown(id, true) + "\n";
      }
    }
  }

  void print_op(const Op& op) {
    out_ += indent_;
    for (size_t i = 0; i < op.results.size(); ++i) out_ += (i > 0 ? ", " : "") + shown(op.results[i], true);
    if (!op.results.empty()) out_ += " = ";
    out_ += std::string(op.name()) + "(";
    for (size_t i = 0; i < op.operands.size(); ++i) out_ += (i > 0 ? ", " : "") + shown(op.operands[i], false);
    out_ += ")";
    print_attributes(op);
    if (op.device != 0) out_ += fmt::format(" device {}", op.device);
    if (options_.locations) out_ += " " + print_location(op.location);
    for (const Graph& region : op.regions)
      out_ +=
          " region " + quoted(region.name) + " {\n" + Printer(region, options_, indent_ + "  ").body() + indent_ + "}";
    out_ += "\n";
  }

  // Only what differs from the operator's defaults, in the order of its `visit`.
  void print_attributes(const Op& op) {
    std::vector<AttributeText> given = op.attributes->print();
    std::vector<AttributeText> defaults = op.definition->default_attributes()->print();
    std::string list;
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i] == defaults[i]) continue;
      list += (list.empty() ? "" : ", ") + given[i].first + " = " + given[i].second;
    }
    if (!list.empty()) out_ += " {" + list + "}";
  }

  const Graph& graph_;
  const PrintOptions& options_;
  std::string indent_;
  std::vector<bool> declared_;
  std::string out_;
};

}  // namespace

std::string to_string(const TensorType& type) {
  std::string out = fmt::format("{}[{}]", name_of(type.dtype), fmt::join(type.shape, "x"));
  if (type.quantization != Quantization{}) out += print_quantization(type.quantization);
  return out;
}

std::string print(const Graph& graph, const PrintOptions& options) { return Printer(graph, options).run(); }

std::string print(const Graph& graph, int64_t constants_limit) {
  PrintOptions options;
  options.constants_limit = constants_limit;
  return print(graph, options);
}

}  // namespace aotc::graph
