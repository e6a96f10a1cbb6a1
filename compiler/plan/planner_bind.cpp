// SPDX-License-Identifier: Apache-2.0
// Where inputs, outputs and constants lie, and, when everything has its place, what calls are given.
#include "plan/planner.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/common/pieces.h"

namespace aotc::plan {

using graph::Graph;
using graph::TensorId;

void Planner::bind_externals() {
  StorageKind input = options_.inputs == Contract::kPreserve ? StorageKind::kInput : StorageKind::kArena;
  for (size_t i = 0; i < graph().inputs.size(); ++i)
    external_of(graph().inputs[i].tensor) = {input, static_cast<int>(i), 0};
  for (size_t i = 0; i < graph().tensors.size(); ++i)
    if (graph().tensors[i].constant) classes_.storage_of_class(static_cast<int>(i)) = {StorageKind::kConstant, -1, 0};
  for (size_t i = 0; i < graph().states.size(); ++i)
    external_of(graph().states[i].before) = {StorageKind::kState, static_cast<int>(i), 0};
  if (options_.outputs == Contract::kPreserve)
    for (size_t i = 0; i < graph().outputs.size(); ++i) {
      Storage& s = external_of(graph().outputs[i].tensor);
      if (s.kind == StorageKind::kNone) s = {StorageKind::kOutput, static_cast<int>(i), 0};
    }
  view_copied_.resize(graph().ops.size());
  pieces_.resize(graph().ops.size());
  producer_.assign(graph().tensors.size(), -1);
  for (size_t i = 0; i < graph().ops.size(); ++i) {
    for (TensorId id : graph().ops[i].results) producer_[at(id)] = static_cast<int>(i);
    for (TensorId id : graph().ops[i].operands)
      if (id.valid() && graph().is_constant(id)) ++readers_of_constants_[graph()[id].constant->bytes.data()];
  }
  for (size_t i = 0; i < graph().ops.size(); ++i) {
    const graph::Op& op = graph().ops[i];
    if (!ops::definition_of(op).traits().view) {
      bind_pieces(i);
      continue;
    }
    Storage& from = external_of(op.operands[0]);
    Storage& to = external_of(op.results[0]);
    bool both = from.kind != StorageKind::kNone && to.kind != StorageKind::kNone;
    both = both || (to.kind != StorageKind::kNone && classes_.has_pieces(op.operands[0]));
    both = both || graph()[op.operands[0]].device != graph()[op.results[0]].device;
    view_copied_[i] = both;
    if (both) continue;
    Storage joined = from.kind != StorageKind::kNone ? from : to;
    classes_.join(op.operands[0], op.results[0], joined);
  }
  bind_windows();
  place_states();
}

// Does an operator read what others of its kind read, as the steps of an unrolled network do?
bool Planner::repeats_constants(const graph::Op& op) const {
  constexpr int kLeastReaders = 3;
  return std::any_of(op.operands.begin(), op.operands.end(), [&](TensorId id) {
    return id.valid() && graph().is_constant(id) &&
           readers_of_constants_.at(graph()[id].constant->bytes.data()) >= kLeastReaders;
  });
}

void Planner::bind_pieces(size_t op_index) {
  const graph::Op& op = graph().ops[op_index];
  if (!options_.repeats || !graph().states.empty() || options_.devices.devices.size() > 1 ||
      flat_.flat_op.size() != graph().ops.size() || op.operands.empty() || !op.operands[0].valid())
    return;
  const TensorId whole = op.operands[0];
  const int producer = producer_[at(whole)];
  if (producer < 0 || !repeats_constants(graph().ops[static_cast<size_t>(producer)]) ||
      external_of(whole).kind != StorageKind::kNone)
    return;
  const auto begins = ops::pieces_of({graph(), op});
  if (!begins) return;
  const int64_t element = size_of(graph()[whole].type.dtype);
  for (size_t r = 0; r < op.results.size(); ++r) {
    const graph::TensorType& type = graph()[op.results[r]].type;
    const auto is_it = [&](const graph::Port& port) { return port.tensor == op.results[r]; };
    if (type.bytes() == 0 || external_of(op.results[r]).kind != StorageKind::kNone ||
        (classes_.offset(whole.value) + (*begins)[r] * element) % alignment_of(type.dtype, type.bytes()) != 0 ||
        std::any_of(graph().outputs.begin(), graph().outputs.end(), is_it))
      return;
  }
  for (size_t r = 0; r < op.results.size(); ++r) classes_.take_piece(whole, op.results[r], (*begins)[r] * element);
  pieces_[op_index] = true;
}

TensorId Planner::tensor_of(size_t call, const ops::Arg& arg) const {
  if (program_.calls[call].op_index < 0) return {};
  const graph::Op& op = graph().ops[static_cast<size_t>(program_.calls[call].op_index)];
  if (arg.kind == ops::ArgKind::kOperand) return operand_of(program_.calls[call], arg.index);
  if (arg.kind == ops::ArgKind::kResult) return op.results[static_cast<size_t>(arg.index)];
  return {};
}

void Planner::bind_conditions(std::vector<ProgramStep>& steps) {
  for (ProgramStep& step : steps) {
    for (std::vector<ProgramStep>& block : step.blocks) bind_conditions(block);
    if (step.kind == ProgramStep::Kind::kCall) continue;
    step.condition = storage_of_operand(conditions_[static_cast<size_t>(step.condition_index)], {});
  }
}

void Planner::bind_arguments() {
  for (size_t c = 0; c < program_.calls.size(); ++c) {
    ProgramCall& call = program_.calls[c];
    const PendingCall& pending = pending_[c];
    const auto& params = program_.functions[static_cast<size_t>(call.function)].body->params;
    if (pending.copy) {
      const graph::Shape& shape = type_of(pending.copy->from).shape;
      call.arguments = {{storage_of(pending.copy->from, call), params[0]->dtype, params[0]->elements, shape},
                        {storage_of(pending.copy->to, call), params[1]->dtype, params[1]->elements, shape}};
      // A merged copy: its shape.
      for (const ops::Arg& arg : pending.args) {
        const int table = pending.constants[static_cast<size_t>(arg.index)];
        const ops::Constant& shape_table = program_.constants[static_cast<size_t>(table)].data;
        int64_t elements = static_cast<int64_t>(shape_table.bytes.size()) / size_of(DType::kI32);
        call.arguments[0].elements = call.arguments[1].elements = type_of(pending.copy->from).elements();
        call.arguments.push_back({{StorageKind::kConstant, table, 0, -1}, DType::kI32, elements, {elements}});
      }
      continue;
    }
    for (size_t a = 0; a < pending.args.size(); ++a)
      call.arguments.push_back({storage_of(call, pending, pending.args[a]), params[a]->dtype,
                                elements_of(call, pending, pending.args[a], params[a]->dtype),
                                shape_of(call, pending, pending.args[a], params[a]->dtype)});
  }
}

Storage Planner::storage_of(const CopyEnd& end, const ProgramCall& call) {
  switch (end.kind) {
    case CopyEnd::kTensor: return storage_of_operand(TensorId{end.index}, call);
    case CopyEnd::kResult: return program_.tensors[static_cast<size_t>(end.index)];
    case CopyEnd::kOutput: return program_.outputs[static_cast<size_t>(end.index)];
    case CopyEnd::kState: return program_.states[static_cast<size_t>(end.index)];
    case CopyEnd::kAside: return set_aside_[static_cast<size_t>(end.index)].storage;
  }
  return {};
}

Storage Planner::storage_of(ProgramCall& call, const PendingCall& pending, const ops::Arg& arg) {
  const graph::Op& op = graph().ops[static_cast<size_t>(call.op_index)];
  auto index = static_cast<size_t>(arg.index);
  switch (arg.kind) {
    case ops::ArgKind::kOperand: return storage_of_operand(operand_of(call, arg.index), call);
    case ops::ArgKind::kResult: return program_.tensors[at(op.results[index])];
    case ops::ArgKind::kConstant: return {StorageKind::kConstant, pending.constants[index], 0, -1};
    case ops::ArgKind::kScratch: return {StorageKind::kArena, -1, call.scratch_offset, call.scratch_pool};
  }
  return {};
}

int64_t Planner::elements_of(const ProgramCall& call, const PendingCall& pending, const ops::Arg& arg, DType type) {
  const graph::Op& op = graph().ops[static_cast<size_t>(call.op_index)];
  auto index = static_cast<size_t>(arg.index);
  switch (arg.kind) {
    case ops::ArgKind::kOperand: return graph()[operand_of(call, arg.index)].type.elements();
    case ops::ArgKind::kResult: return graph()[op.results[index]].type.elements();
    case ops::ArgKind::kConstant: {
      const ops::Constant& c = program_.constants[static_cast<size_t>(pending.constants[index])].data;
      return static_cast<int64_t>(c.bytes.size()) / size_of(c.dtype);
    }
    case ops::ArgKind::kScratch: return call.scratch_bytes / size_of(type);
  }
  return 0;
}

graph::Shape Planner::shape_of(const ProgramCall& call, const PendingCall& pending, const ops::Arg& arg, DType type) {
  const graph::Op& op = graph().ops[static_cast<size_t>(call.op_index)];
  int operand = arg.kind == ops::ArgKind::kOperand ? arg.index : arg.operand;
  if (operand >= 0) return graph()[operand_of(call, operand)].type.shape;
  if (arg.kind == ops::ArgKind::kResult) return graph()[op.results[static_cast<size_t>(arg.index)]].type.shape;
  return {elements_of(call, pending, arg, type)};
}

Storage Planner::storage_of_operand(TensorId id, const ProgramCall& call) {
  Storage s = program_.tensors[at(id)];
  if (s.kind != StorageKind::kConstant) return s;
  const graph::Tensor& t = graph().tensors[static_cast<size_t>(constant_root(id))];
  ops::Constant c{"data", t.type.dtype, {t.constant->bytes.begin(), t.constant->bytes.end()}, 4};
  return {StorageKind::kConstant, intern_constant(call.op_index, std::move(c)), 0, -1};
}

Status Planner::place_constants() {
  auto of_constants = [](const Pool& p) { return p.constants; };
  auto found = std::find_if(program_.pools.begin(), program_.pools.end(), of_constants);
  if (found == program_.pools.end()) return success();
  program_.constant_pool = static_cast<int>(found - program_.pools.begin());
  program_.constants_apart = options_.constants_apart;
  for (ProgramConstant& c : program_.constants) {
    int64_t alignment = std::max(c.data.alignment, 4);
    c.offset = (found->bytes + alignment - 1) / alignment * alignment;
    found->bytes = c.offset + static_cast<int64_t>(c.data.bytes.size());
  }
  for (ProgramCall& call : program_.calls)
    for (CallArgument& a : call.arguments) bring_to_pool(a.storage);
  bring_to_pool(program_.body);
  Location where;
  where.file = graph().source_file;
  return check_limits(program_.pools, where) ? success() : Status(kFailure);
}

void Planner::bring_to_pool(Storage& storage) const {
  if (storage.kind != StorageKind::kConstant) return;
  storage.pool = program_.constant_pool;
  storage.offset = program_.constants[static_cast<size_t>(storage.index)].offset;
}

void Planner::bring_to_pool(std::vector<ProgramStep>& steps) const {
  for (ProgramStep& step : steps) {
    bring_to_pool(step.condition);
    for (std::vector<ProgramStep>& block : step.blocks) bring_to_pool(block);
  }
}

int Planner::constant_root(TensorId id) {
  int c = class_of(id);
  for (size_t i = 0; i < graph().tensors.size(); ++i)
    if (graph().tensors[i].constant && classes_.of(static_cast<int>(i)) == c) return static_cast<int>(i);
  return id.value;
}

}  // namespace aotc::plan
