// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "plan/merge.h"
#include "plan/program.h"
#include "tir/tir.h"

namespace aotc::plan {

std::vector<uint8_t> initial_state(const Program& program) {
  std::vector<uint8_t> memory(static_cast<size_t>(program.state_bytes), 0);
  for (size_t i = 0; i < program.states.size(); ++i) {
    std::span<const uint8_t> bytes = program.graph.states[i].initial.bytes;
    std::copy(bytes.begin(), bytes.end(), memory.begin() + program.states[i].offset);
  }
  return memory;
}

Result<std::vector<std::vector<uint8_t>>> run_program(
    const Program& program, const std::vector<std::vector<uint8_t>>& inputs, Diagnostics& diags,
    const std::function<void(int, int, std::span<const uint8_t>)>& on_result,
    std::vector<uint8_t>* state) {
  for (const ProgramFunction& f : program.functions) {
    if (!f.external) continue;
    diags.error(program.graph.location_of({}), "external-not-run",
                fmt::format("'{}' is a function of the user's: it runs where it is compiled",
                            f.external->symbol));
    return kFailure;
  }
  std::vector<std::vector<uint8_t>> pools;
  for (const Pool& pool : program.pools) pools.emplace_back(static_cast<size_t>(pool.bytes), 0xA5);
  auto pooled = [&](const Storage& s) { return pools[static_cast<size_t>(s.pool)].data() + s.offset; };
  std::vector<uint8_t> first_state = state == nullptr ? initial_state(program) : std::vector<uint8_t>();
  std::vector<uint8_t>& kept = state == nullptr ? first_state : *state;
  std::vector<std::vector<uint8_t>> in = inputs;
  std::vector<std::vector<uint8_t>> out;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (program.inputs[i].kind == StorageKind::kArena)
      std::copy(inputs[i].begin(), inputs[i].end(), pooled(program.inputs[i]));
  for (const graph::Port& port : program.graph.outputs)
    out.emplace_back(static_cast<size_t>(program.graph[port.tensor].type.bytes()), 0x5A);
  auto memory_of = [&](const Storage& s) -> uint8_t* {
    switch (s.kind) {
      case StorageKind::kArena: return pooled(s);
      case StorageKind::kInput: return in[static_cast<size_t>(s.index)].data();
      case StorageKind::kOutput: return out[static_cast<size_t>(s.index)].data();
      case StorageKind::kConstant:
        return const_cast<uint8_t*>(
            program.constants[static_cast<size_t>(s.index)].data.bytes.data());
      case StorageKind::kState: return kept.data() + s.offset;
      case StorageKind::kNone: return nullptr;
    }
    return nullptr;
  };
  auto run_call = [&](size_t c) -> Status {
    const ProgramCall& call = program.calls[c];
    const tir::Function& f = *program.functions[static_cast<size_t>(call.function)].body;
    std::vector<tir::Memory> memory;
    std::vector<int64_t> elements;
    for (size_t a = 0; a < call.arguments.size(); ++a) {
      elements.push_back(call.arguments[a].elements);
      memory.push_back({memory_of(call.arguments[a].storage),
                        elements.back() * size_of(f.params[a]->dtype)});
    }
    // A merged function has the bounds of its largest call: this call's are checked exactly.
    bool merged = program.functions[static_cast<size_t>(call.function)].merged;
    tir::FunctionPtr exact = merged ? with_parameter_sizes(f, elements) : nullptr;
    if (!tir::interpret(exact ? *exact : f, memory, diags)) return kFailure;
    if (!on_result) return success();
    for (size_t r = 0; r < call.results.size(); ++r) {
      const Storage& s = program.tensors[static_cast<size_t>(call.results[r].value)];
      on_result(static_cast<int>(c), static_cast<int>(r),
                {memory_of(s), static_cast<size_t>(program.graph[call.results[r]].type.bytes())});
    }
    return success();
  };
  int64_t iterations = kMostIterations;
  std::function<Status(const std::vector<ProgramStep>&)> run_steps =
      [&](const std::vector<ProgramStep>& steps) -> Status {
    for (const ProgramStep& step : steps) {
      if (step.kind == ProgramStep::Kind::kCall) {
        if (!run_call(static_cast<size_t>(step.call))) return kFailure;
      } else if (step.kind == ProgramStep::Kind::kBranch) {
        if (!run_steps(step.blocks[*memory_of(step.condition) != 0 ? 0 : 1])) return kFailure;
      } else if (step.kind == ProgramStep::Kind::kRepeat) {
        for (const std::vector<ProgramStep>& turn : step.blocks)
          if (!run_steps(turn)) return kFailure;
      } else {
        while (true) {
          if (!run_steps(step.blocks[0])) return kFailure;
          if (*memory_of(step.condition) == 0) break;
          if (iterations-- == 0) {
            diags.error(program.graph.location_of({}), "loop-endless",
                        fmt::format("loops do not end within {} iterations", kMostIterations));
            return kFailure;
          }
          if (!run_steps(step.blocks[1])) return kFailure;
        }
      }
    }
    return success();
  };
  if (!run_steps(program.body)) return kFailure;
  for (size_t o = 0; o < out.size(); ++o)
    if (program.outputs[o].kind == StorageKind::kArena)
      std::copy_n(pooled(program.outputs[o]), out[o].size(), out[o].begin());
  return out;
}

}  // namespace aotc::plan
