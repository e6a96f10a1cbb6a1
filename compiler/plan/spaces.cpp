// SPDX-License-Identifier: Apache-2.0
#include "plan/spaces.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "plan/merge.h"

namespace aotc::plan {

namespace {

using tir::Space;

Location location_of(const Program& program, const ProgramFunction& function) {
  int op = program.calls[static_cast<size_t>(function.calls[0])].op_index;
  if (op >= 0) return program.graph.ops[static_cast<size_t>(op)].location;
  Location where;
  where.file = program.graph.source_file;
  return where;
}

std::vector<Space> spaces_of(const ProgramCall& call) {
  std::vector<Space> out;
  for (const CallArgument& a : call.arguments)
    out.push_back(a.storage.kind == StorageKind::kConstant ? Space::kProgram : Space::kData);
  return out;
}

bool has_table(const std::vector<Space>& spaces) {
  return std::find(spaces.begin(), spaces.end(), Space::kProgram) != spaces.end();
}

Status check_externals(const Program& program, Diagnostics& diags) {
  for (const ProgramFunction& f : program.functions) {
    if (!f.external) continue;
    for (int c : f.calls) {
      if (!has_table(spaces_of(program.calls[static_cast<size_t>(c)]))) continue;
      diags
          .error(location_of(program, f), "harvard-external",
                 fmt::format("function '{}' is given tables, which are in program memory where it "
                             "cannot read them",
                             f.external->symbol))
          .help("keep the tables in RAM with --constants ram");
      return kFailure;
    }
  }
  return success();
}

Status check_reach(const Program& program, const ops::TargetInfo& target, Diagnostics& diags) {
  int64_t total = 0;
  for (const ProgramConstant& c : program.constants) {
    auto bytes = static_cast<int64_t>(c.data.bytes.size());
    total += bytes;
    if (target.largest_object == 0 || bytes <= target.largest_object) continue;
    Location where;
    where.file = program.graph.source_file;
    if (c.op_index >= 0) where = program.graph.ops[static_cast<size_t>(c.op_index)].location;
    diags
        .error(where, "harvard-tables",
               fmt::format("table '{}' takes {} bytes, and C for this CPU has no arrays of more "
                           "than {}",
                           c.name, bytes, target.largest_object))
        .help("make the layer smaller or quantise it, or choose a board with a 32-bit CPU");
    return kFailure;
  }
  if (target.program_reach == 0 || total <= target.program_reach) return success();
  Location where;
  where.file = program.graph.source_file;
  diags
      .error(where, "harvard-tables",
             fmt::format("the model's tables take {} bytes, and 16-bit pointers into program memory "
                         "reach {} of them",
                         total, target.program_reach))
      .help(
          "a smaller model, or one with int8 weights, or a board with a 32-bit CPU; more flash on "
          "the same CPU does not help");
  return kFailure;
}

}  // namespace

Status move_tables_to_program(Program& program, const ops::TargetInfo& target, Diagnostics& diags) {
  if (!check_externals(program, diags) || !check_reach(program, target, diags)) return kFailure;
  program.program_tables = true;
  size_t count = program.functions.size();
  for (size_t i = 0; i < count; ++i) {
    ProgramFunction shared = program.functions[i];
    if (shared.external) continue;
    std::map<std::vector<Space>, std::vector<int>> groups;
    for (int c : shared.calls) groups[spaces_of(program.calls[static_cast<size_t>(c)])].push_back(c);
    for (auto& [spaces, calls] : groups) {
      ProgramFunction own = shared;
      own.calls = std::move(calls);
      if (has_table(spaces)) own.body = with_parameter_spaces(*shared.body, spaces);
      // The first call's stays where it was, so that functions keep the order of their first calls.
      bool first = own.calls[0] == shared.calls[0];
      size_t index = first ? i : program.functions.size();
      for (int c : own.calls) program.calls[static_cast<size_t>(c)].function = static_cast<int>(index);
      if (first) {
        program.functions[i] = std::move(own);
      } else {
        program.functions.push_back(std::move(own));
      }
    }
  }
  return success();
}

Status check_numbers(const Program& program, const ops::TargetInfo& target, Diagnostics& diags) {
  if (target.fp64) return success();
  for (const ProgramFunction& f : program.functions) {
    if (f.external || !tir::uses_type(*f.body, DType::kF64)) continue;
    diags
        .error(location_of(program, f), "target-double",
               "this operator is computed with 64-bit floating point, which C for this CPU does not "
               "have")
        .help("choose a board with a 32-bit CPU");
    return kFailure;
  }
  return success();
}

}  // namespace aotc::plan
