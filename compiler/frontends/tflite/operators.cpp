// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/operators.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontends/tflite/builtin_names.h"
#include "ops/tflite_op.h"

namespace aotc::frontends {

namespace {

namespace schema = tflite_schema;

constexpr const char* kDamaged = "the file is damaged; export the model again";

// Codes below 127 may stand in the old 8-bit field, the new one, or both.
int builtin_of(const schema::OperatorCode& code) {
  return std::max<int>(code.builtin_code(), code.deprecated_builtin_code());
}

// Bytes that checking and lowering the operator reads, of tables that other operators may share.
uint64_t constant_bytes(const graph::Op& op, const graph::Graph& graph) {
  uint64_t bytes = 0;
  for (const auto* list : {&op.operands, &op.results}) {
    for (graph::TensorId id : *list) {
      if (!id.valid()) continue;
      if (graph[id].constant) bytes += graph[id].constant->bytes.size();
      bytes += graph[id].type.quantization.scale.size() * 12;
    }
  }
  return bytes;
}

// An operator's type as TFLite spells it; a custom operator goes by its own name, as it is.
std::string type_of(const schema::OperatorCode& code) {
  int builtin = builtin_of(code);
  if (builtin == kTfliteCustom && code.custom_code() != nullptr && code.custom_code()->size() > 0) {
    return code.custom_code()->str().substr(0, 200);
  }
  return tflite_builtin_name(builtin);
}

}  // namespace

const schema::Operator& OperatorReader::raw(size_t index) const {
  return *source_.subgraph->operators()->Get(static_cast<flatbuffers::uoffset_t>(index));
}

Location OperatorReader::where(size_t index) const {
  Location at = source_.where();
  at.op_index = static_cast<int>(index);
  const schema::Operator& op = raw(index);
  if (op.opcode_index() < length(source_.model->operator_codes())) {
    at.op_type = type_of(*source_.model->operator_codes()->Get(op.opcode_index()));
  }
  if (length(op.outputs()) > 0) {
    int32_t result = op.outputs()->Get(0);
    if (result >= 0 && static_cast<size_t>(result) < length(source_.subgraph->tensors())) {
      at.tensor = tensor_name(*source_.subgraph, result);
    }
  }
  return at;
}

bool OperatorReader::resolve_code(size_t index, Resolved& out) {
  const auto* codes = source_.model->operator_codes();
  uint32_t at = raw(index).opcode_index();
  if (at >= length(codes)) {
    source_.diags
        ->error(where(index), "tflite-invalid",
                fmt::format("its code is entry {}, the file has {}", at, length(codes)))
        .help(kDamaged);
    return false;
  }
  const schema::OperatorCode& code = *codes->Get(at);
  out.builtin = builtin_of(code);
  out.version = code.version();
  if (out.builtin >= 0 && static_cast<size_t>(out.builtin) < tflite_builtin_names().size()) {
    auto [entry, is_new] = found_.try_emplace(out.builtin, nullptr);
    if (is_new && out.builtin != kTfliteCustom) entry->second = set_.find_tflite(out.builtin);
    out.definition = entry->second;
  }
  return true;
}

bool OperatorReader::check_indices(size_t index, const char* what,
                                   const flatbuffers::Vector<int32_t>* list, bool optional_allowed,
                                   size_t tensors) {
  // Counted twice over: the list becomes ids in the graph, and its operator carries a location.
  if (!source_.copies.take(length(list) * sizeof(int32_t) * 2)) {
    report_aliasing(source_, where(index));
    return false;
  }
  for (uint32_t i = 0; i < length(list); ++i) {
    int32_t tensor = list->Get(i);
    bool absent = tensor == -1 && optional_allowed;
    if (absent || (tensor >= 0 && static_cast<size_t>(tensor) < tensors)) continue;
    source_.diags
        ->error(where(index), "tflite-invalid",
                fmt::format("{} {} is tensor {}, the subgraph has {}", what, i, tensor, tensors))
        .help(kDamaged);
    return false;
  }
  return true;
}

void OperatorReader::mark(size_t index, std::vector<Role>& roles) {
  const schema::Operator& op = raw(index);
  for (uint32_t i = 0; i < length(op.inputs()); ++i) {
    if (op.inputs()->Get(i) >= 0) roles[static_cast<size_t>(op.inputs()->Get(i))].operand = true;
  }
  for (uint32_t i = 0; i < length(op.outputs()); ++i) {
    roles[static_cast<size_t>(op.outputs()->Get(i))].result = true;
  }
}

Status OperatorReader::resolve(std::vector<Role>& roles) {
  size_t count = length(source_.subgraph->operators());
  resolved_.assign(count, {});
  std::vector<size_t> unsupported;
  bool good = true;
  for (size_t i = 0; i < count && !source_.out_of_patience(); ++i) {
    const schema::Operator& op = raw(i);
    if (!resolve_code(i, resolved_[i]) ||
        !check_indices(i, "operand", op.inputs(), true, roles.size()) ||
        !check_indices(i, "result", op.outputs(), false, roles.size())) {
      good = false;
    } else if (resolved_[i].definition == nullptr) {
      unsupported.push_back(i);
    } else {
      mark(i, roles);
    }
  }
  if (!unsupported.empty()) report_unsupported(unsupported);
  return good && unsupported.empty() && !source_.out_of_patience() ? success() : Status(kFailure);
}

// One operator: the error stands at it. Several: the error stands at the file and lists them.
void OperatorReader::report_unsupported(const std::vector<size_t>& unsupported) {
  bool one = unsupported.size() == 1;
  Diagnostic& d =
      source_.diags->error(one ? where(unsupported[0]) : source_.where(), "op-unsupported",
                           one ? "operator is not supported"
                               : fmt::format("{} operators are not supported", unsupported.size()));
  std::vector<std::string> types;
  bool control_flow = false;
  for (size_t i = 0; i < unsupported.size(); ++i) {
    Location at = where(unsupported[i]);
    if (!one && i < limits::kMaxListed) {
      d.note(fmt::format("op {} {} '{}'", at.op_index, escape_for_display(at.op_type),
                         escape_for_display(at.tensor)));
    }
    if (types.size() < 5 && std::find(types.begin(), types.end(), at.op_type) == types.end()) {
      types.push_back(at.op_type);
    }
    for (const char* name : {"IF", "WHILE", "CALL", "CALL_ONCE"}) {
      if (at.op_type == name) control_flow = true;
    }
  }
  if (!one && unsupported.size() > limits::kMaxListed) {
    d.note(fmt::format("and {} more", unsupported.size() - limits::kMaxListed));
  }
  if (control_flow) d.note("control flow runs other subgraphs of the file, which are not compiled");
  d.note(fmt::format("{} of {} operators compile", resolved_.size() - unsupported.size(),
                     resolved_.size()));
  for (const std::string& type : types) {
    d.help(fmt::format("'aotc ops --like {}' lists what is", escape_for_display(type)));
  }
}

Status OperatorReader::build(const std::vector<graph::TensorId>& ids, graph::Graph& graph) {
  std::vector<bool> defined(graph.tensors.size());
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    defined[i] = graph.tensors[i].constant.has_value();
  }
  const auto* inputs = source_.subgraph->inputs();
  for (uint32_t i = 0; i < length(inputs); ++i) {
    defined[static_cast<size_t>(ids[static_cast<size_t>(inputs->Get(i))].value)] = true;
  }
  bool good = true;
  graph.ops.reserve(resolved_.size());
  for (size_t i = 0; i < resolved_.size() && !source_.out_of_patience(); ++i) {
    if (!build_one(i, ids, graph, defined)) good = false;
  }
  // A port that is an input or a constant as it stands has no operator to write it.
  std::vector<bool> computed(graph.tensors.size());
  for (const graph::Op& op : graph.ops) {
    for (graph::TensorId id : op.results) computed[static_cast<size_t>(id.value)] = true;
  }
  const auto* outputs = source_.subgraph->outputs();
  for (uint32_t i = 0; good && i < length(outputs); ++i) {
    graph::TensorId id = ids[static_cast<size_t>(outputs->Get(i))];
    if (computed[static_cast<size_t>(id.value)]) continue;
    source_.diags
        ->error(source_.where_tensor(graph[id].name), "output-not-computed",
                fmt::format("output {} is not computed by any operator", i))
        .help("remove this output from the model, or compute it from an input");
    good = false;
  }
  return good ? success() : Status(kFailure);
}

bool OperatorReader::build_one(size_t index, const std::vector<graph::TensorId>& ids,
                               graph::Graph& graph, std::vector<bool>& defined) {
  const schema::Operator& from = raw(index);
  graph::Op op;
  op.definition = resolved_[index].definition;
  op.location = where(index);
  auto invalid = [&](std::string message) {
    source_.diags->error(op.location, "tflite-invalid", std::move(message)).help(kDamaged);
    return false;
  };
  if (!source_.copies.take(op.location.tensor.size())) {
    report_aliasing(source_, op.location);
    return false;
  }
  for (uint32_t i = 0; i < length(from.inputs()); ++i) {
    int32_t tensor = from.inputs()->Get(i);
    graph::TensorId id = tensor < 0 ? graph::TensorId{} : ids[static_cast<size_t>(tensor)];
    if (id.valid() && !defined[static_cast<size_t>(id.value)]) {
      return invalid(fmt::format("operand {} '{}' is neither constant nor computed before", i,
                                 escape_for_display(graph[id].name)));
    }
    op.operands.push_back(id);
  }
  if (length(from.outputs()) == 0) return invalid("the operator has no results");
  for (uint32_t i = 0; i < from.outputs()->size(); ++i) {
    graph::TensorId id = ids[static_cast<size_t>(from.outputs()->Get(i))];
    if (defined[static_cast<size_t>(id.value)]) {
      return invalid(fmt::format("result {} '{}' is computed before or is an input", i,
                                 escape_for_display(graph[id].name)));
    }
    defined[static_cast<size_t>(id.value)] = true;
    op.results.push_back(id);
  }
  if (!source_.constants.take(constant_bytes(op, graph))) {
    report_aliasing(source_, op.location);
    return false;
  }
  ops::TfliteOp view(from, resolved_[index].builtin, resolved_[index].version, graph);
  if (!resolved_[index].definition->import_tflite(view, op, *source_.diags)) return false;
  settle_shapes(index, op, graph);
  graph.ops.push_back(std::move(op));
  return true;
}

// Where the file leaves a dimension of a result open, the operands decide it. Disagreements and
// operands that make no sense are left to ops::verify_graph, which reports them.
void OperatorReader::settle_shapes(size_t index, const graph::Op& op, graph::Graph& graph) {
  const schema::Operator& from = raw(index);
  Diagnostics unreported;
  auto shapes = resolved_[index].definition->infer(ops::OpView{graph, op}, unreported);
  if (!shapes || shapes->size() != op.results.size()) return;
  for (size_t i = 0; i < shapes->size() && i < length(from.outputs()); ++i) {
    const graph::Shape& inferred = (*shapes)[i];
    graph::TensorType& type = graph[op.results[i]].type;
    const schema::Tensor* file_tensor = source_.subgraph->tensors()->Get(
        static_cast<uint32_t>(from.outputs()->Get(static_cast<uint32_t>(i))));
    const graph::Quantization& q = type.quantization;
    if (!shape_may_become(*file_tensor, type.shape, inferred) ||
        bounded_bytes(inferred, type.dtype) <= 0) {
      continue;
    }
    size_t axis = static_cast<size_t>(q.axis);
    if (q.per_channel() && inferred[axis] != type.shape[axis]) continue;
    type.shape = inferred;
  }
}

}  // namespace aotc::frontends
