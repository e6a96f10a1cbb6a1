// SPDX-License-Identifier: Apache-2.0
// The planner's second stage: every operator becomes a function with tables, and a call.
#include "plan/planner.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/limits.h"
#include "ops/common/alike.h"
#include "ops/common/pair_budget.h"
#include "ops/common/pieces.h"
#include "plan/moves.h"
#include "plan/trip_count.h"
#include "support/text.h"

namespace aotc::plan {

using graph::Graph;
using graph::TensorId;

Status Planner::lower_all() {
  lowered_.resize(graph().ops.size());
  // Counted anew for each plan.
  ops::PairBudget proofs(ops::kMostPairs);
  const ops::AlikeOps alike(graph());
  const std::vector<int> parts = parts_of(graph());
  for (size_t i = 0; i < graph().ops.size(); ++i) {
    const graph::Op& op = graph().ops[i];
    bool view = ops::definition_of(op).traits().view;
    if ((view && !view_copied_[i]) || pieces_[i]) continue;
    if (const Segment* segment = segment_of(i)) {
      if (i == segment->last && !lower_rows(*segment)) return kFailure;
      continue;
    }
    ops::OpView op_view{graph(), op};
    lowered_[i] = view ? lower_copy(op_view) : lower_as_asked(i, parts[i]);
    if (!lowered_[i]) continue;
    for (const ops::Constant& c : lowered_[i]->constants) constant_bytes_ += static_cast<int64_t>(c.bytes.size());
    if (constant_bytes_ > graph::kMostConstantBytes) return too_many_constants(op.location);
  }
  return all_schedules_used(parts) ? success() : Status(kFailure);
}

std::optional<ops::Lowered> Planner::lower_as_asked(size_t op_index, int part) {
  const Location& where = graph().ops[op_index].location;
  ops::TargetInfo target = options_.target;
  const ops::Schedule* asked = ops::find_schedule(schedule_.operators, where.op_index, part);
  const bool exact = schedule_.operators.contains({where.op_index, part});
  // Operators of regions share numbers with those of the model.
  if (!asked || !(flat_.outermost[op_index] || (exact && part >= 0))) return lower_op(op_index, target);
  target.asked = asked;
  std::optional<ops::Lowered> lowered = lower_op(op_index, target);
  if (!lowered) return lowered;
  const ops::OperatorKey key{where.op_index, exact ? part : -1};
  if (lowered->schedule.meets(*asked)) {
    met_.insert(key);
    return lowered;
  }
  nearest_.emplace(key, std::pair(where, lowered->schedule));
  target.asked = nullptr;
  return lower_op(op_index, target);
}

std::optional<ops::Lowered> Planner::lower_op(size_t op_index, const ops::TargetInfo& target) const {
  const ops::OpView op{graph(), graph().ops[op_index]};
  if (const auto found = pushes_.find(op_index); found != pushes_.end()) {
    const std::vector<bool>& there = found->second->there;
    if (std::find(there.begin(), there.end(), false) == there.end()) return std::nullopt;
    return ops::lower_joined(op, there);
  }
  return slides_.contains(op_index) ? ops::lower_moved_piece(op) : ops::lower(op, target);
}

const Segment* Planner::segment_of(size_t op_index) const {
  for (const Segment& s : segments_)
    if (op_index >= s.first && op_index <= s.last) return &s;
  return nullptr;
}

bool Planner::lower_rows(const Segment& segment) {
  auto rows = rows_of_segment(graph(), segment);
  if (rows && options_.feed && is_fed_input(graph(), rows->input))
    rows = options_.stream.mode == Stream::kTime ? frames_of_segment(graph(), segment)
                                                 : rows_of_segment(graph(), segment, true);
  if (!rows) return false;
  auto made = lower_segment(graph(), *rows, options_.target, row_kernels_);
  if (!made) return false;
  lowered_[segment.last] = std::move(made->lowered);
  last_of_segment_[static_cast<int>(segment.last)] = {rows->input, std::move(made->scratch_order),
                                                      std::move(made->rows), std::move(made->fed)};
  return true;
}

TensorId Planner::operand_of(const ProgramCall& call, int index) const {
  const auto segment = last_of_segment_.find(call.op_index);
  if (segment != last_of_segment_.end()) return segment->second.input;
  return graph().ops[static_cast<size_t>(call.op_index)].operands[static_cast<size_t>(index)];
}

Status Planner::too_many_constants(const Location& where) {
  diags_
      .error(where, "plan-limit",
             fmt::format("the constant tables up to here take {} bytes, at most {} are "
                         "emitted",
                         constant_bytes_, graph::kMostConstantBytes))
      .help("no microcontroller holds such tables; quantise the model or make it smaller");
  return kFailure;
}

std::vector<ProgramStep> Planner::emit(Block& block) {
  std::vector<ProgramStep> out;
  for (Step& step : block.steps) {
    if (step.kind == Step::Kind::kOp) {
      auto i = static_cast<size_t>(step.op);
      if (!lowered_[i]) continue;
      out.push_back(call_step());
      add_call(step.op, graph().ops[i], std::move(*lowered_[i]));
    } else {
      if (step.kind == Step::Kind::kWhile) emit_moves(step.before, {}, out);
      out.push_back(step.kind == Step::Kind::kIf ? emit_branch(step) : emit_loop(step));
    }
  }
  return out;
}

ProgramStep Planner::call_step() const {
  ProgramStep step;
  step.call = static_cast<int>(program_.calls.size());
  return step;
}

ProgramStep Planner::emit_branch(Step& step) {
  ProgramStep out;
  out.kind = ProgramStep::Kind::kBranch;
  mark({step.condition});
  const size_t index = conditions_.size();
  conditions_.push_back(step.condition);
  out.condition_index = static_cast<int>(index);
  for (Block& block : step.blocks) {
    out.blocks.push_back(emit(block));
    emit_moves(block.moves, {}, out.blocks.back());
  }
  return out;
}

ProgramStep Planner::emit_loop(Step& step) {
  ProgramStep out;
  out.kind = ProgramStep::Kind::kLoop;
  out.trip_count = trip_count(graph(), step);
  const size_t begin = uses_.size();
  std::vector<TensorId> carried;
  for (const Move& move : step.before) carried.push_back(move.to);
  out.condition_index = static_cast<int>(conditions_.size());
  conditions_.push_back(step.condition);
  out.blocks.push_back(emit(step.blocks[0]));
  mark({step.condition});
  out.blocks.push_back(emit(step.blocks[1]));
  emit_moves(step.blocks[1].moves, carried, out.blocks.back());
  mark(carried);
  loops_.push_back({begin, uses_.size() - 1});
  return out;
}

void Planner::emit_moves(const std::vector<Move>& moves, const std::vector<TensorId>& written,
                         std::vector<ProgramStep>& out) {
  std::map<const Move*, CopyEnd> from;
  for (const Move& move : moves) {
    if (move.nothing) continue;
    CopyEnd source{CopyEnd::kTensor, move.from.value};
    bool written_over =
        std::any_of(written.begin(), written.end(), [&](TensorId id) { return class_of(id) == class_of(move.from); });
    if (written_over) {
      CopyEnd aside{CopyEnd::kAside, static_cast<int>(set_aside_.size())};
      set_aside_.push_back({graph()[move.from].type});
      out.push_back(call_step());
      add_copy(source, aside);
      source = aside;
    }
    from[&move] = source;
  }
  for (const Move& move : moves) {
    if (move.nothing) continue;
    out.push_back(call_step());
    add_copy(from[&move], {CopyEnd::kResult, move.to.value});
  }
}

void Planner::copy_outputs() {
  copied_outputs_.resize(graph().outputs.size());
  for (size_t i = 0; i < graph().outputs.size(); ++i) {
    TensorId id = graph().outputs[i].tensor;
    Storage s = external_of(id);
    bool own = s.kind == StorageKind::kOutput && s.index == static_cast<int>(i);
    if (own || s.kind == StorageKind::kNone) continue;
    copied_outputs_[i] = -1;
    program_.body.push_back(call_step());
    add_copy({CopyEnd::kTensor, id.value}, {CopyEnd::kOutput, static_cast<int>(i)});
  }
}

bool Planner::all_schedules_used(const std::vector<int>& parts) {
  for (const auto& [key, schedule] : schedule_.operators) {
    if (const auto nearest = nearest_.find(key); nearest != nearest_.end() && !met_.contains(key)) {
      const auto& [where, got] = nearest->second;
      diags_
          .error(where, "schedule-impossible",
                 fmt::format("the schedule asked for, '{}', cannot be had", schedule.text()))
          .note(fmt::format("nearest is '{}'", got.text()))
          .help("'aotc report' prints the schedules that were chosen");
      return false;
    }
    bool there = false;
    for (size_t i = 0; i < parts.size() && !there; ++i)
      there = graph().ops[i].location.op_index == key.op_index && (key.part < 0 || key.part == parts[i]);
    if (there) continue;
    Location where;
    where.file = graph().name;
    diags_
        .error(where, "schedule-unknown-op",
               fmt::format("a schedule is given for {}operator {}, which is not compiled",
                           key.part < 0 ? "" : fmt::format("part {} of ", key.part), key.op_index))
        .help("'aotc report' lists the operators that are, with their indices");
    return false;
  }
  return true;
}

ops::Lowered Planner::lower_copy(const ops::OpView& op) {
  ops::LoweringBuilder f(op, "copy");
  tir::BufferPtr in = f.operand(0), out = f.result(0);
  f.copy(out, 0, in, 0, in->elements);
  return f.finish("copy");
}

const graph::TensorType& Planner::type_of(const CopyEnd& end) const {
  if (end.kind == CopyEnd::kAside) return set_aside_[static_cast<size_t>(end.index)].type;
  return graph().tensors[static_cast<size_t>(end.index)].type;
}

void Planner::add_copy(CopyEnd from, CopyEnd to) {
  const graph::TensorType& type = type_of(from);
  tir::FunctionBuilder f("copy");
  tir::BufferPtr in = f.input("in", type.dtype, type.elements());
  tir::BufferPtr out = f.output("out", type.dtype, type.elements());
  f.copy(out, 0, in, 0, in->elements);
  PendingCall pending;
  pending.copy = Copy{from, to};
  ProgramCall call;
  call.device = 0;
  call.function = intern_function(f.finish(), 0, std::nullopt);
  call.schedule.note = "copy";
  uses_.push_back({static_cast<int>(program_.calls.size()), {}});
  program_.calls.push_back(std::move(call));
  pending_.push_back(std::move(pending));
}

void Planner::add_call(int op_index, const graph::Op& op, ops::Lowered lowered) {
  ProgramCall call;
  call.op_index = op_index;
  call.scratch_bytes = lowered.scratch_bytes;
  call.schedule = std::move(lowered.schedule);
  call.results = op.results;
  call.device = op.device;
  call.function = intern_function(lowered.function, op.device, std::move(lowered.external));
  PendingCall pending;
  pending.args = std::move(lowered.args);
  pending.write_orders = std::move(lowered.write_orders);
  pending.scratch_alignment = lowered.scratch_alignment;
  if (const auto segment = last_of_segment_.find(op_index); segment != last_of_segment_.end()) {
    pending.scratch_order = std::move(segment->second.scratch_order);
    call.rows = segment->second.rows;
    call.rows_of = segment->second.input;
    call.by_rows = true;
    if (segment->second.fed) {
      program_.feeding = std::move(segment->second.fed);
      program_.feeding->call = static_cast<int>(program_.calls.size());
    }
  }
  for (ops::Constant& c : lowered.constants) pending.constants.push_back(intern_constant(op_index, std::move(c)));
  uses_.push_back({static_cast<int>(program_.calls.size()), {}});
  program_.calls.push_back(std::move(call));
  pending_.push_back(std::move(pending));
}

}  // namespace aotc::plan
