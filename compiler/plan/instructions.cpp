// SPDX-License-Identifier: Apache-2.0
#include "plan/instructions.h"

#include <cmath>

#include "target/instruction_counter.h"

namespace aotc::plan {

using target::InstructionCounter;
using target::OperationCosts;

namespace {

// Of each call, with so much for the call itself.
std::vector<int64_t> costs_of_calls(const Program& program, const ops::TargetInfo& target, const OperationCosts& costs,
                                    double call_cost) {
  std::vector<int64_t> out;
  for (const ProgramCall& call : program.calls) {
    const ProgramFunction& function = program.functions[static_cast<size_t>(call.function)];
    if (function.external) {
      out.push_back(0);
      continue;
    }
    InstructionCounter counter(costs, target.lowerings != nullptr);
    for (size_t a = 0; a < call.arguments.size() && a < function.body->params.size(); ++a)
      if (call.arguments[a].storage.kind == StorageKind::kConstant)
        counter.bind(function.body->params[a].get(),
                     &program.constants[static_cast<size_t>(call.arguments[a].storage.index)].data);
    out.push_back(static_cast<int64_t>(std::ceil(call_cost + counter.run(*function.body->body))));
  }
  return out;
}

}  // namespace

std::vector<int64_t> instructions_of_calls(const Program& program, const ops::TargetInfo& target) {
  const OperationCosts costs = target::operation_costs(target);
  return costs_of_calls(program, target, costs, costs.call + static_cast<double>(kStepInstructions));
}

std::vector<int64_t> cycles_of_calls(const Program& program, const ops::TargetInfo& target) {
  const OperationCosts costs = target::operation_cycles(target);
  if (costs.timing == nullptr) return {};
  return costs_of_calls(program, target, costs, costs.call);
}

}  // namespace aotc::plan
