// SPDX-License-Identifier: Apache-2.0
#include "ops/lowering.h"

#include <cassert>

#include <fmt/format.h>

#include "ops/operator.h"
#include "tir/uses.h"

namespace aotc::ops {

std::vector<Goal> goals_from(const Goal& first) {
  std::vector<Goal> out;
  for (const bool prefer_ram : {first.prefer_ram, !first.prefer_ram})
    for (const Level level : {Level::kSize, Level::kBalanced, Level::kSpeed}) out.push_back({level, prefer_ram});
  return out;
}

Lowered lower(const OpView& op, const TargetInfo& target) {
  if (target.lowerings)
    for (const TargetLowering& own : *target.lowerings)
      if (own.op == op.op.name() && own.applies(op, target))
        if (auto lowered = own.lower(op, target)) return std::move(*lowered);
  return definition_of(op.op).lower(op, target);
}

LoweringBuilder::LoweringBuilder(const OpView& op, std::string name)
    : FunctionBuilder(std::move(name)), graph_(op.graph), op_(op.op) {}

tir::BufferPtr LoweringBuilder::operand(size_t i) {
  const OpView op{graph_, op_};
  const graph::TensorType& type = op.operand(i);
  std::string name = op.operand_count() == 1 ? "in" : fmt::format("in{}", i);
  if (const graph::ConstantView* c = op.constant(i)) {
    tir::BufferPtr made = constant_bytes(name, type.dtype, {c->bytes.begin(), c->bytes.end()}, size_of(type.dtype));
    lowered_.args.back().operand = static_cast<int>(i);
    return made;
  }
  lowered_.args.push_back({ArgKind::kOperand, static_cast<int>(i)});
  return FunctionBuilder::input(name, type.dtype, type.elements());
}

tir::BufferPtr LoweringBuilder::piece(size_t i, int64_t pieces) {
  const graph::TensorType& type = graph_[op_.operands[i]].type;
  lowered_.args.push_back({ArgKind::kOperand, static_cast<int>(i)});
  return FunctionBuilder::input("in", type.dtype, type.elements() / pieces);
}

tir::BufferPtr LoweringBuilder::result(size_t i) {
  const graph::TensorType& type = graph_[op_.results[i]].type;
  std::string name = op_.results.size() == 1 ? "out" : fmt::format("out{}", i);
  lowered_.args.push_back({ArgKind::kResult, static_cast<int>(i)});
  return FunctionBuilder::output(name, type.dtype, type.elements());
}

tir::BufferPtr LoweringBuilder::constant_bytes(const std::string& name, DType type, std::vector<uint8_t> bytes,
                                               int alignment) {
  lowered_.args.push_back({ArgKind::kConstant, static_cast<int>(lowered_.constants.size())});
  int64_t elements = static_cast<int64_t>(bytes.size()) / size_of(type);
  lowered_.constants.push_back({name, type, std::move(bytes), alignment});
  return FunctionBuilder::constant(name, type, elements, alignment);
}

tir::BufferPtr LoweringBuilder::scratch(const std::string& name, DType type, int64_t elements, int alignment) {
  assert(lowered_.scratch_bytes == 0);
  lowered_.args.push_back({ArgKind::kScratch, 0});
  lowered_.scratch_bytes = elements * size_of(type);
  lowered_.scratch_alignment = alignment;
  return FunctionBuilder::scratch(name, type, elements, alignment);
}

// A table that the algorithm does not read in this case is neither a parameter nor emitted, and scratch that
// it does not need takes no room.
static void drop_unused(Lowered& lowered) {
  const std::unordered_set<const void*> used = tir::used_in(*lowered.function);
  auto made = std::make_shared<tir::Function>(*lowered.function);
  made->params.clear();
  std::vector<Arg> args;
  std::vector<Constant> constants;
  for (size_t p = 0; p < lowered.args.size(); ++p) {
    const tir::BufferPtr& param = lowered.function->params[p];
    Arg arg = lowered.args[p];
    if (arg.kind == ArgKind::kConstant) {
      if (!used.contains(param.get())) continue;
      constants.push_back(std::move(lowered.constants[static_cast<size_t>(arg.index)]));
      arg.index = static_cast<int>(constants.size()) - 1;
    }
    if (arg.kind == ArgKind::kScratch && !used.contains(param.get())) {
      lowered.scratch_bytes = 0;
      continue;
    }
    made->params.push_back(param);
    args.push_back(arg);
  }
  lowered.function = std::move(made);
  lowered.args = std::move(args);
  lowered.constants = std::move(constants);
}

Turns turns_of(int64_t units, double each, const TargetInfo& target, int64_t group) {
  const auto part = static_cast<double>(target.slice);
  const int64_t groups = units / group;
  if (target.slice == 0 || groups < 2 || each * static_cast<double>(units) <= part * 3 / 4) return {units, 1, 0};
  // At least two turns, which a loop can be made of.
  const auto fit = static_cast<int64_t>(part / 4 / (each * static_cast<double>(group)));
  const int64_t size = group * std::clamp<int64_t>(fit, 1, groups / 2);
  return {size, units / size, units % size};
}

void LoweringBuilder::take_turns(const Turns& turns, const std::function<void(tir::Ex, int64_t)>& body) {
  if (turns.whole == 1) {
    body(0, turns.size);
  } else {
    loop("turn", 0, turns.whole, [&](tir::Ex turn) { body(turn * turns.size, turns.size); });
  }
  if (turns.rest > 0) body(turns.whole * turns.size, turns.rest);
}

Lowered LoweringBuilder::finish(std::string note) {
  lowered_.function = FunctionBuilder::finish();
  if (!lowered_.external) drop_unused(lowered_);
  lowered_.schedule.note = std::move(note);
  return std::move(lowered_);
}

}  // namespace aotc::ops
