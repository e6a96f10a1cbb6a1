// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_comments.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/c_run.h"
#include "support/text.h"
#include "support/tvm_params.h"

namespace aotc::codegen {

using plan::Program;
using plan::ProgramCall;

std::string FunctionComments::of(const plan::ProgramFunction& f) const {
  auto call_at = [&](size_t i) -> const ProgramCall& { return program_.calls[static_cast<size_t>(f.calls[i])]; };
  bool same_types = true, same_schedule = true;
  for (size_t i = 1; i < f.calls.size(); ++i) {
    same_types = same_types && io_description(call_at(i), "") == io_description(call_at(0), "");
    same_schedule = same_schedule && call_at(i).schedule.text() == call_at(0).schedule.text();
  }
  std::string comment;
  for (size_t i = 0; i < f.calls.size(); ++i) {
    const ProgramCall& call = call_at(i);
    if (i == 6 && f.calls.size() > 7) {
      comment += fmt::format(" * and {} more\n", f.calls.size() - i);
      break;
    }
    comment += fmt::format(" * call {}: {}; {}\n", f.calls[i], operator_title(program_, call, 60), places(call));
    if (!same_types) comment += io_description(call, "    ");
    if (!same_schedule) comment += schedule_of(call, "    ");
  }
  if (same_types) comment += io_description(call_at(0), "");
  return same_schedule ? comment + schedule_of(call_at(0), "") : comment;
}

std::string FunctionComments::schedule_of(const ProgramCall& call, const char* indent) {
  const std::string text = call.schedule.text();
  return text.empty() ? "" : fmt::format(" * {}schedule: {}\n", indent, text);
}

std::string FunctionComments::places(const ProgramCall& call) const {
  std::string in, out;
  const auto& params = program_.functions[static_cast<size_t>(call.function)].body->params;
  for (size_t a = 0; a < call.arguments.size(); ++a) {
    bool is_in = params[a]->role == tir::Role::kInput;
    if (!is_in && params[a]->role != tir::Role::kOutput) continue;
    std::string& list = is_in ? in : out;
    list += (list.empty() ? "" : ", ") + place(call.arguments[a].storage);
  }
  return (in.empty() ? "constants" : in) + " -> " + out;
}

std::string FunctionComments::place(const plan::Storage& s) const {
  auto index = static_cast<size_t>(s.index);
  switch (s.kind) {
    case plan::StorageKind::kArena:
      return options_.memory == MemoryMode::kWorkspace
                 ? "workspace"
                 : fmt::format("{} + {}", program_.pools[static_cast<size_t>(s.pool)].name, s.offset);
    case plan::StorageKind::kInput: return "input " + names_.input_fields[index];
    case plan::StorageKind::kOutput: return "output " + names_.output_fields[index];
    case plan::StorageKind::kState: return fmt::format("state + {}", s.offset);
    default: return "a table";
  }
}

std::string FunctionComments::io_description(const ProgramCall& call, const char* indent) const {
  if (call.op_index < 0) return "";
  const graph::Op& op = program_.graph.ops[static_cast<size_t>(call.op_index)];
  std::string out;
  for (graph::TensorId id : op.operands)
    if (id.valid() && !program_.graph.is_constant(id))
      out += fmt::format(" * {}in:  {}\n", indent, describe(program_.graph[id].type));
  for (graph::TensorId id : op.results) out += fmt::format(" * {}out: {}\n", indent, describe(program_.graph[id].type));
  return out;
}

std::string describe(const graph::TensorType& type) {
  std::string out = fmt::format("{} {}", tvm::DataType::of(type.dtype).str(), graph::to_string(type.shape));
  if (type.quantization.present() && !type.quantization.per_channel())
    out += fmt::format(", scale {} zero {}", type.scale(), type.zero_point());
  return out;
}

std::string tensor_title(const std::string& name, const graph::TensorType& type, size_t columns) {
  constexpr size_t kLeast = 16, kQuotes = 4, kDots = 3, kSpace = 1;  // one character may add a space
  const std::string what = describe(type);
  const size_t taken = what.size() + kQuotes + kDots + kSpace;
  return fmt::format("'{}': {}", c_comment_text(name, std::max(kLeast, columns > taken ? columns - taken : 0)), what);
}

std::string operator_title(const Program& program, const ProgramCall& call, size_t longest) {
  if (call.op_index < 0) {
    plan::StorageKind to = call.arguments.size() > 1 ? call.arguments[1].storage.kind : plan::StorageKind::kOutput;
    return to == plan::StorageKind::kState ? "copy to state" : "copy to output";
  }
  const graph::Op& op = program.graph.ops[static_cast<size_t>(call.op_index)];
  std::string type = op.location.op_type.empty() ? std::string(op.name()) : op.location.op_type;
  std::string tensor = op.results.empty() ? "" : program.graph[op.results[0]].name;
  return fmt::format("{} '{}'", c_comment_text(type, 40), c_comment_text(tensor, longest));
}

std::string call_title(const Program& program, const ProgramCall& call) {
  const int op = call.op_index < 0 ? -1 : program.graph.ops[static_cast<size_t>(call.op_index)].location.op_index;
  return (op >= 0 ? fmt::format("op {} ", op) : "") + operator_title(program, call);
}

}  // namespace aotc::codegen
