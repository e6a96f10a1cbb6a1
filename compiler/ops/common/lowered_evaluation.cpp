// SPDX-License-Identifier: Apache-2.0
#include "ops/common/lowered_evaluation.h"

#include <algorithm>

namespace aotc::ops {

void evaluate_lowering(const OpView& op, const EvalData& data, const TargetInfo& target) {
  Lowered lowered = definition_of(op.op).lower(op, target);
  std::vector<uint8_t> scratch(static_cast<size_t>(lowered.scratch_bytes));
  std::vector<tir::Memory> memory;
  // Operands are only read.
  auto bytes = [](std::span<const uint8_t> b) {
    return tir::Memory{const_cast<uint8_t*>(b.data()), static_cast<int64_t>(b.size())};
  };
  for (const Arg& arg : lowered.args) {
    auto index = static_cast<size_t>(arg.index);
    switch (arg.kind) {
      case ArgKind::kOperand: memory.push_back(bytes(data.operands[index])); break;
      case ArgKind::kResult: memory.push_back(bytes(data.results[index])); break;
      case ArgKind::kConstant: memory.push_back(bytes(lowered.constants[index].bytes)); break;
      case ArgKind::kScratch: memory.push_back(bytes(scratch)); break;
    }
  }
  Diagnostics diags;
  if (tir::interpret(*lowered.function, memory, diags)) return;
  for (std::span<uint8_t> result : data.results) std::fill(result.begin(), result.end(), uint8_t{0});
}

}  // namespace aotc::ops
