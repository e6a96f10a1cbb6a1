// SPDX-License-Identifier: Apache-2.0
#include "plan/instructions.h"

#include <algorithm>
#include <cmath>

#include "cores/instruction_counter.h"

namespace aotc::plan {

using cores::InstructionCounter;
using cores::OperationCosts;

namespace {

InstructionCounter counter_of(const Program& program, const ProgramCall& call, const OperationCosts& costs,
                              KernelForm kernels, int64_t turns = InstructionCounter::kMostTurns) {
  const tir::Function& function = *program.functions[static_cast<size_t>(call.function)].body;
  InstructionCounter counter(costs, kernels, turns);
  for (size_t a = 0; a < call.arguments.size() && a < function.params.size(); ++a)
    if (call.arguments[a].storage.kind == StorageKind::kConstant)
      counter.bind(function.params[a].get(),
                   &program.constants[static_cast<size_t>(call.arguments[a].storage.index)].data);
  counter.skip_values_that_decide_nothing(*function.body);
  return counter;
}

// Where results are stored of which half of the elements are zeros (cores/code_model.h).
class HalfZeros {
 public:
  void tell(const ProgramCall& call, const tir::Function& function, cores::CodeModel& code) const {
    for (size_t a = 0; a < parameters(call, function); ++a)
      if (std::find(places_.begin(), places_.end(), call.arguments[a].storage) != places_.end())
        code.set_half_zero(function.params[a].get());
  }
  void learn(const ProgramCall& call, const tir::Function& function, const cores::CodeModel& code) {
    for (size_t a = 0; a < parameters(call, function); ++a) {
      if (function.params[a]->role != tir::Role::kOutput) continue;
      std::erase(places_, call.arguments[a].storage);
      if (code.is_half_zero(function.params[a].get())) places_.push_back(call.arguments[a].storage);
    }
  }

 private:
  static size_t parameters(const ProgramCall& call, const tir::Function& function) {
    return std::min(call.arguments.size(), function.params.size());
  }
  std::vector<Storage> places_;
};

// The loop over events that a segment is; null if it has one event.
const tir::For* loop_of(const tir::Function& function) {
  for (const tir::StmtPtr& s : static_cast<const tir::Block&>(*function.body).body)
    if (s->kind == tir::StmtKind::kFor) return static_cast<const tir::For*>(s.get());
  return nullptr;
}

// Of each call, with so much for the call itself.
std::vector<int64_t> costs_of_calls(const Program& program, const ops::TargetInfo& target, const OperationCosts& costs,
                                    double call_cost, int64_t turns) {
  std::vector<int64_t> out;
  HalfZeros zeros;
  for (const ProgramCall& call : program.calls) {
    const ProgramFunction& function = program.functions[static_cast<size_t>(call.function)];
    if (function.external) {
      out.push_back(0);
      continue;
    }
    InstructionCounter counter = counter_of(program, call, costs, cores::kernels_of(target), turns);
    if (cores::CodeModel* code = counter.code()) {
      zeros.tell(call, *function.body, *code);
      counter.add(*function.body);
      zeros.learn(call, *function.body, *code);
    }
    const double arguments = costs.code ? costs.code->parameter * static_cast<double>(call.arguments.size()) : 0;
    out.push_back(static_cast<int64_t>(std::ceil(call_cost + arguments + counter.run(*function.body->body))));
  }
  return out;
}

}  // namespace

std::vector<int64_t> instructions_of_feeds(const Program& program, const ops::TargetInfo& target) {
  if (!program.feeding) return {};
  const std::vector<int64_t> calls = instructions_of_calls(program, target);
  if (std::count(calls.begin(), calls.end(), 0) > 0) return {};
  const Feeding& fed = *program.feeding;
  const ProgramCall& call = program.calls[static_cast<size_t>(fed.call)];
  const tir::For* loop = loop_of(*program.functions[static_cast<size_t>(call.function)].body);
  const OperationCosts costs = cores::operation_costs(target);
  InstructionCounter counter = counter_of(program, call, costs, cores::kernels_of(target));
  std::vector<int64_t> out;
  for (size_t row = 0; row + 1 < fed.begins.size(); ++row) {
    double sum = costs.call + static_cast<double>(kStepInstructions);
    for (int64_t event = fed.begins[row]; event < fed.begins[row + 1] && loop != nullptr; ++event)
      sum += counter.turn(*loop, static_cast<double>(event)) + 1;
    out.push_back(static_cast<int64_t>(std::ceil(sum)));
  }
  for (size_t c = 0; c < calls.size() && !out.empty(); ++c)
    if (loop == nullptr || static_cast<int>(c) != fed.call)
      for (size_t row = static_cast<size_t>(fed.rows()) - 1; row < out.size(); row += static_cast<size_t>(fed.step))
        out[row] += calls[c];
  return out;
}

std::vector<int64_t> instructions_of_calls(const Program& program, const ops::TargetInfo& target) {
  const OperationCosts costs = cores::operation_costs(target);
  return costs_of_calls(program, target, costs, costs.call + static_cast<double>(kStepInstructions),
                        InstructionCounter::kMostTurns);
}

std::vector<int64_t> estimated_instructions_of_calls(const Program& program, const ops::TargetInfo& target) {
  const OperationCosts costs = cores::expected_costs(target);
  return costs_of_calls(program, target, costs, costs.call, InstructionCounter::kMostTurns);
}

std::vector<int64_t> cycles_of_calls(const Program& program, const ops::TargetInfo& target) {
  const OperationCosts costs = cores::operation_cycles(target);
  if (costs.timing == nullptr) return {};
  return costs_of_calls(program, target, costs, costs.call, InstructionCounter::kTurnsOfEstimate);
}

}  // namespace aotc::plan
