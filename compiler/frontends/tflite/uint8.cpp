// SPDX-License-Identifier: Apache-2.0
// Operators on uint8, as converters of TensorFlow 1 wrote them. Where an operator computes with int8, its uint8
// operands and results become int8 tensors with the top bit flipped and the zero point 128 lower, which stand for
// the same numbers; from one such operator to the next nothing is converted. Only where uint8 is wanted or given
// (inputs, outputs, operators that take uint8 alone) a quantize between the two stays.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tflite/operators.h"

namespace aotc::frontends {

namespace {

bool is_quantized_byte(const graph::TensorType& type) {
  return type.dtype == DType::kU8 && type.quantization.scale.size() == 1 && type.zero_point() >= 0 &&
         type.zero_point() <= 255;
}

graph::TensorType shifted_type(graph::TensorType type) {
  type.dtype = DType::kI8;
  type.quantization.zero_point = {int64_t{type.zero_point()} - 128};
  return type;
}

graph::Op conversion(const ops::OperatorSet& set, graph::TensorId from, graph::TensorId to, const Location& at,
                     const std::string& name) {
  graph::Op op;
  op.definition = set.find("quantize");
  op.attributes = op.definition->default_attributes();
  op.operands = {from};
  op.results = {to};
  op.location = at;
  op.location.op_type = "QUANTIZE";
  op.location.tensor = name;
  return op;
}

}  // namespace

// A tensor of another type that stands for `id`, without a value yet.
bool OperatorReader::add_counterpart(Build& build, graph::TensorId id, const char* suffix, graph::TensorType type,
                                     const Location& at, graph::TensorId& out, Diagnostics& told) {
  graph::Tensor tensor;
  tensor.name = build.graph[id].name + suffix;
  tensor.type = std::move(type);
  if (!source_.copies.take(tensor.name.size() * 2 + sizeof(graph::Tensor))) {
    report_aliasing(told, at);
    return false;
  }
  out = build.graph.add_tensor(std::move(tensor));
  build.mark_added();
  build.derived[static_cast<size_t>(out.value)] = build.derived[static_cast<size_t>(id.value)];
  return true;
}

// The int8 tensor in the place of a uint8 one, without a value yet.
bool OperatorReader::shifted_tensor(Build& build, graph::TensorId id, const Location& at, graph::TensorId& out,
                                    Diagnostics& told) {
  auto known = build.shifted.find(id);
  if (known != build.shifted.end()) {
    out = known->second;
    return true;
  }
  if (!add_counterpart(build, id, " (int8)", shifted_type(build.graph[id].type), at, out, told)) return false;
  build.shifted.emplace(id, out);
  build.twins.insert(out);
  return true;
}

// The same with the value of the uint8 tensor.
bool OperatorReader::shifted_operand(Build& build, graph::TensorId id, const Location& at, graph::TensorId& out,
                                     Diagnostics& told) {
  const bool known = build.shifted.contains(id);
  if (!shifted_tensor(build, id, at, out, told)) return false;
  if (known) return true;
  return convert_bytes(build, id, out, at, told);
}

// `to` has the value of `from`, one of them int8 in the place of the other.
bool OperatorReader::convert_bytes(Build& build, graph::TensorId from, graph::TensorId to, const Location& at,
                                   Diagnostics& told) {
  const std::optional<graph::ConstantView>& constant = build.graph[from].constant;
  Budget& budget = constant ? source_.constants : source_.copies;
  if (!budget.take(constant ? constant->bytes.size() : build.graph[to].name.size())) {
    report_aliasing(told, at);
    return false;
  }
  if (!constant) {
    build.graph.ops.push_back(conversion(set_, from, to, at, build.graph[to].name));
    build.folded.push_back(false);
    return true;
  }
  std::vector<uint8_t> bytes(constant->bytes.begin(), constant->bytes.end());
  for (uint8_t& byte : bytes) byte ^= 0x80;
  build.graph[to].constant = graph::own_bytes(std::move(bytes));
  return true;
}

// Gives a uint8 tensor its value where it is there as int8 alone.
bool OperatorReader::make_bytes(Build& build, graph::TensorId id, Diagnostics& told) {
  auto found = build.unmade.find(id);
  if (found == build.unmade.end()) return true;
  const Location at = where(static_cast<size_t>(found->second));
  build.unmade.erase(found);
  return convert_bytes(build, build.shifted.at(id), id, at, told);
}

bool OperatorReader::make_operands(size_t index, Build& build) {
  Diagnostics told;
  const auto* inputs = raw(index).inputs();
  for (uint32_t i = 0; i < length(inputs); ++i) {
    if (inputs->Get(i) < 0) continue;
    if (make_bytes(build, build.ids[static_cast<size_t>(inputs->Get(i))], told)) continue;
    failed_.push_back({index, std::move(told)});
    skip(index, build);
    return false;
  }
  return true;
}

bool OperatorReader::make_outputs(Build& build) {
  const auto* outputs = source_.subgraph->outputs();
  for (uint32_t i = 0; i < length(outputs); ++i) {
    graph::TensorId id = build.ids[static_cast<size_t>(outputs->Get(i))];
    if (!make_bytes(build, id, other_)) return false;
  }
  return true;
}

// Of operators that compute with one type or move it, some are int8 and some uint8: the former would hide it. What
// converts between the two is quantize.
static bool mixes_bytes(const graph::Graph& graph, const graph::Op& op, bool weighted) {
  if (op.name() == "quantize") return false;
  bool is_signed = false, is_unsigned = false;
  auto look = [&](graph::TensorId id) {
    if (!id.valid()) return;
    is_signed |= graph[id].type.dtype == DType::kI8;
    is_unsigned |= is_quantized_byte(graph[id].type);
  };
  for (size_t i = 0; i < op.operands.size(); ++i)
    if (!weighted || i != 1) look(op.operands[i]);
  for (graph::TensorId id : op.results) look(id);
  return is_signed && is_unsigned;
}

bool OperatorReader::shift_bytes(Build& build, graph::Op& op, Diagnostics& told) {
  using ops::Uint8;
  if (op.definition == nullptr) return true;
  const ops::Operator& definition = ops::definition_of(op);
  Uint8 kind = definition.uint8_form({build.graph, op});
  auto is_byte = [&](graph::TensorId id) { return id.valid() && is_quantized_byte(build.graph[id].type); };
  if (kind == Uint8::kEither) {
    const bool any = std::any_of(op.operands.begin(), op.operands.end(),
                                 [&](graph::TensorId id) { return build.unmade.contains(id); });
    kind = any ? Uint8::kShifted : Uint8::kOwn;
  }
  if (kind != Uint8::kOwn && mixes_bytes(build.graph, op, kind == Uint8::kWeighted)) {
    told.error(op.location, "op-type",
               fmt::format("operands and results of {} mix int8 and uint8, expected one type", op.name()))
        .help("convert between the two with QUANTIZE");
    return false;
  }
  for (size_t i = 0; i < op.operands.size(); ++i) {
    graph::TensorId& id = op.operands[i];
    const bool stays = kind == Uint8::kOwn || (kind == Uint8::kWeighted && i == 1);
    if (stays ? !make_bytes(build, id, told) : is_byte(id) && !shifted_operand(build, id, op.location, id, told))
      return false;
  }
  if (kind == Uint8::kOwn) return true;
  for (graph::TensorId& id : op.results) {
    if (!is_byte(id)) continue;
    graph::TensorId bytes = id;
    if (!shifted_tensor(build, bytes, op.location, id, told)) return false;
    build.unmade.emplace(bytes, op.location.op_index);
  }
  return true;
}

// Shapes that the operator decided of int8 tensors are those of the uint8 ones as well.
void OperatorReader::settle_bytes(size_t index, Build& build) const {
  const auto* outputs = raw(index).outputs();
  for (uint32_t i = 0; i < length(outputs); ++i) {
    graph::TensorId id = build.ids[static_cast<size_t>(outputs->Get(i))];
    if (!build.unmade.contains(id)) continue;
    graph::TensorId from = build.shifted.at(id);
    build.graph[id].type.shape = build.graph[from].type.shape;
    build.derived[static_cast<size_t>(id.value)] = build.derived[static_cast<size_t>(from.value)];
  }
}

}  // namespace aotc::frontends
