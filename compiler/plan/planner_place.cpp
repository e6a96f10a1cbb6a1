// SPDX-License-Identifier: Apache-2.0
// The planner's fourth stage: lifetimes, and a place in memory for everything.
#include "plan/planner.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/placement_order.h"

namespace aotc::plan {

using graph::Graph;
using graph::TensorId;

bool Planner::in_arena(const Storage& s) { return s.kind == StorageKind::kNone || s.kind == StorageKind::kArena; }

std::vector<Buffer> Planner::make_buffers() {
  buffer_of_.assign(graph().tensors.size(), -1);
  std::vector<int64_t> bytes(graph().tensors.size(), 0);
  for (size_t i = 0; i < graph().tensors.size(); ++i) {
    int64_t& of_class = bytes[static_cast<size_t>(classes_.of(static_cast<int>(i)))];
    of_class = std::max(of_class, classes_.offset(static_cast<int>(i)) + graph().tensors[i].type.bytes());
  }
  std::vector<Buffer> buffers;
  for (size_t c = 0; c < bytes.size(); ++c) {
    const graph::Tensor& t = graph().tensors[c];
    if (classes_.of(static_cast<int>(c)) != static_cast<int>(c)) continue;
    if (!in_arena(classes_.storage_of_class(static_cast<int>(c)))) continue;
    buffer_of_[c] = static_cast<int>(buffers.size());
    buffers.push_back({bytes[c], alignment_of(t.type.dtype, bytes[c]), t.name, false, false, t.device});
  }
  auto of_port = [&](const graph::Port& port) -> Buffer& {
    return buffers[static_cast<size_t>(buffer_of(port.tensor))];
  };
  if (options_.inputs == Contract::kOverwrite)
    for (const graph::Port& port : graph().inputs) of_port(port).from_start = true;
  for (size_t o = 0; options_.outputs == Contract::kOverwrite && o < copied_outputs_.size(); ++o) {
    if (!copied_outputs_[o]) {
      of_port(graph().outputs[o]).to_end = true;
      continue;
    }
    const graph::TensorType& type = graph()[graph().outputs[o].tensor].type;
    copied_outputs_[o] = static_cast<int>(buffers.size());
    buffers.push_back({type.bytes(), alignment_of(type.dtype, type.bytes()), graph().outputs[o].name, false, true});
  }
  for (Aside& aside : set_aside_) {
    aside.buffer = static_cast<int>(buffers.size());
    buffers.push_back({aside.type.bytes(), alignment_of(aside.type.dtype, aside.type.bytes()), "state"});
  }
  if (program_.feeding && program_.feeding->period > 0) {
    const auto call = static_cast<size_t>(program_.feeding->call);
    windows_ = static_cast<int>(buffers.size());
    buffers.push_back({program_.calls[call].scratch_bytes, pending_[call].scratch_alignment, "windows", true, true});
  }
  return buffers;
}

int Planner::buffer_of(TensorId id) { return id.valid() ? buffer_of_[static_cast<size_t>(class_of(id))] : -1; }

int Planner::buffer_of(const CopyEnd& end) {
  switch (end.kind) {
    case CopyEnd::kTensor:
    case CopyEnd::kResult: return buffer_of(TensorId{end.index});
    case CopyEnd::kOutput:
      return options_.outputs == Contract::kOverwrite ? *copied_outputs_[static_cast<size_t>(end.index)] : -1;
    case CopyEnd::kAside: return set_aside_[static_cast<size_t>(end.index)].buffer;
    case CopyEnd::kState: break;
  }
  return -1;
}

BufferUse Planner::use_of(size_t call) {
  const PendingCall& pending = pending_[call];
  BufferUse use;
  use.device = program_.calls[call].device;
  use.scratch_bytes = program_.calls[call].scratch_bytes;
  use.scratch_alignment = pending.scratch_alignment;
  if (windows_ >= 0 && static_cast<int>(call) == program_.feeding->call) {
    use.scratch_bytes = 0;
    use.buffers.push_back(windows_);
  }
  auto touch = [&](int buffer) {
    if (buffer >= 0) use.buffers.push_back(buffer);
  };
  if (pending.copy) {
    for (const CopyEnd& end : {pending.copy->from, pending.copy->to}) touch(buffer_of(end));
    return use;
  }
  for (const ops::Arg& arg : pending.args) touch(buffer_of(tensor_of(call, arg)));
  const graph::Op& op = graph().ops[static_cast<size_t>(program_.calls[call].op_index)];
  for (const ops::WriteOrder& order : pending.write_orders) {
    const TensorId id = operand_of(program_.calls[call], order.operand);
    int operand = buffer_of(id);
    int result = buffer_of(op.results[0]);
    // Of a tensor that has pieces, others may be read by the same call.
    const bool whole = !classes_.has_pieces(id);
    if (operand >= 0 && result >= 0 && op.results.size() == 1 && whole)
      use.overlaps.push_back({operand, result, &order});
  }
  if (pending.scratch_order) {
    const TensorId id = operand_of(program_.calls[call], 0);
    if (buffer_of(id) >= 0 && !classes_.has_pieces(id))
      use.scratch_overlap = {buffer_of(id), -1, &*pending.scratch_order};
  }
  return use;
}

Status Planner::too_many(int64_t pairs) {
  Location where;
  where.file = graph().source_file;
  diags_
      .error(where, "plan-limit",
             fmt::format("{} pairs of tensors are alive at the same time, at most {} are "
                         "planned",
                         pairs, kMaxPairs))
      .help("use intermediate results sooner after they are computed, or split the model");
  return kFailure;
}

Status Planner::few_enough() {
  if (options_.devices.devices.size() > 1 || flat_.flat_op.size() != graph().ops.size()) return success();
  const size_t count = graph().ops.size();
  constexpr size_t kNever = SIZE_MAX;
  std::vector<size_t> first(graph().tensors.size(), kNever), last(graph().tensors.size(), 0);
  auto touch = [&](TensorId id, size_t time) {
    if (!id.valid() || !in_arena(external_of(id))) return;
    auto c = static_cast<size_t>(class_of(id));
    first[c] = std::min(first[c], time);
    last[c] = std::max(last[c], time);
  };
  if (options_.inputs == Contract::kOverwrite)
    for (const graph::Port& port : graph().inputs) touch(port.tensor, 0);
  for (size_t i = 0; i < count; ++i) {
    const graph::Op& op = graph().ops[i];
    if (ops::definition_of(op).traits().view && !view_copied_[i]) continue;
    if (pieces_[i]) continue;
    for (TensorId id : op.operands) touch(id, i + 1);
    for (TensorId id : op.results) touch(id, i + 1);
  }
  std::vector<int64_t> begins(count + 1, 0), ends(count + 1, 0);
  for (size_t c = 0; c < first.size(); ++c) {
    if (first[c] == kNever) continue;
    ++begins[first[c]];
    ++ends[last[c]];
  }
  int64_t pairs = 0, alive = 0;
  for (size_t t = 0; t <= count; ++t) {
    pairs += begins[t] * alive + begins[t] * (begins[t] - 1) / 2;
    alive += begins[t] - ends[t];
  }
  return pairs > kMaxPairs ? too_many(pairs) : success();
}

std::vector<BufferUse> Planner::all_uses(const std::vector<Buffer>& buffers) {
  std::vector<BufferUse> uses;
  for (const Use& use : uses_) {
    uses.push_back(use.call >= 0 ? use_of(static_cast<size_t>(use.call)) : BufferUse());
    for (TensorId id : use.alive)
      if (int buffer = buffer_of(id); buffer >= 0) uses.back().buffers.push_back(buffer);
  }
  // What was there before a loop and is used in it is there in every iteration.
  std::vector<size_t> first(buffers.size(), SIZE_MAX);
  for (size_t u = uses.size(); u-- > 0;)
    for (int b : uses[u].buffers) first[static_cast<size_t>(b)] = u;
  for (const LoopSpan& loop : loops_)
    for (size_t u = loop.begin; u < loop.end; ++u)
      for (int b : uses[u].buffers) {
        bool before = first[static_cast<size_t>(b)] < loop.begin || buffers[static_cast<size_t>(b)].from_start;
        if (before) uses[loop.end].buffers.push_back(b);
      }
  return uses;
}

Status Planner::place() {
  std::vector<Buffer> buffers = make_buffers();
  std::vector<BufferUse> uses = all_uses(buffers);
  PooledPlacement pooled = place_in_pools(buffers, uses, options_.overlap, options_.pools, options_.devices.devices);
  const Placement& placement = pooled.placement;
  Location where;
  where.file = graph().source_file;
  if (placement.too_many_pairs > 0) return too_many(placement.too_many_pairs);
  if (!placement.ok()) {
    diags_.error(where, "plan-invalid", "memory planning failed: " + placement.error);
    return kFailure;
  }
  if (placement.bytes > INT32_MAX) {
    diags_.error(where, "arena-too-large",
                 fmt::format("the model needs an arena of {} bytes, more than 2 GiB", placement.bytes));
    return kFailure;
  }
  if (!check_limits(pooled.sizes, where)) return kFailure;
  accept(pooled);
  look_for_order(buffers, uses);
  return success();
}

void Planner::look_for_order(const std::vector<Buffer>& buffers, const std::vector<BufferUse>& uses) {
  const bool plain = segments_.empty() && loops_.empty() && graph().states.empty() &&
                     options_.devices.devices.size() <= 1 && uses.size() == program_.calls.size();
  if (!plain || !options_.overlap) return;
  WrittenBuffers written(uses.size());
  for (size_t c = 0; c < uses.size(); ++c) {
    const PendingCall& pending = pending_[c];
    if (pending.copy) written[c].push_back(buffer_of(pending.copy->to));
    for (const ops::Arg& arg : pending.args)
      if (arg.kind == ops::ArgKind::kResult) written[c].push_back(buffer_of(tensor_of(c, arg)));
  }
  auto order = plan::emptier_order(buffers, uses, written);
  if (!order) return;
  // Views, which are no calls, right in front of whoever reads them first.
  const std::vector<int> definer = graph::compute_use_def(graph()).definer;
  std::vector<bool> placed(graph().ops.size(), false);
  std::vector<int> ops;
  auto place_op = [&](auto& self, int op) -> void {
    if (op < 0 || placed[static_cast<size_t>(op)]) return;
    placed[static_cast<size_t>(op)] = true;
    for (TensorId id : graph().ops[static_cast<size_t>(op)].operands)
      if (id.valid()) self(self, definer[at(id)]);
    ops.push_back(op);
  };
  for (int call : *order) place_op(place_op, program_.calls[static_cast<size_t>(call)].op_index);
  for (size_t op = 0; op < placed.size(); ++op) place_op(place_op, static_cast<int>(op));
  emptier_order_ = std::move(ops);
}

bool Planner::check_limits(const std::vector<Pool>& pools, const Location& where) {
  bool fits = true;
  for (const Pool& pool : pools) {
    if (pool.limit < 0 || pool.bytes <= pool.limit) continue;
    fits = false;
    diags_
        .error(where, "pool-too-small",
               fmt::format("pool '{}' has {} bytes, and the model needs {} of it", pool.name, pool.limit, pool.bytes))
        .help("give it more bytes, or another pool that takes what is left");
  }
  return fits;
}

void Planner::accept(const PooledPlacement& pooled) {
  const Placement& placement = pooled.placement;
  program_.pools = pooled.sizes;
  program_.arena_bytes = placement.bytes;
  program_.arena_lower_bound = placement.lower_bound;
  program_.arena_proven_optimal = placement.proven_optimal;
  program_.arena_method = placement.method;
  program_.arena_without_overlap = placement.without_overlap;
  program_.live_bytes.assign(program_.calls.size(), 0);
  for (size_t u = 0; u < uses_.size(); ++u) {
    if (uses_[u].call < 0) continue;
    auto c = static_cast<size_t>(uses_[u].call);
    program_.live_bytes[c] = placement.live_bytes[u];
    program_.calls[c].scratch_offset = placement.scratch_offsets[u];
    program_.calls[c].scratch_pool = pooled.scratch_pools[u];
  }
  if (program_.feeding) {
    ProgramCall& call = program_.calls[static_cast<size_t>(program_.feeding->call)];
    if (windows_ >= 0) {
      call.scratch_offset = placement.offsets[static_cast<size_t>(windows_)];
      call.scratch_pool = pooled.pools[static_cast<size_t>(windows_)];
      program_.feeding->kept_bytes = call.scratch_bytes;
    }
    program_.feeding->place.offset += call.scratch_offset;
    program_.feeding->place.pool = call.scratch_pool;
  }
  auto storage = [&](int buffer) -> Storage {
    auto b = static_cast<size_t>(buffer);
    if (placement.offsets[b] < 0) return {};
    return {StorageKind::kArena, placement.block[b], placement.offsets[b], pooled.pools[b]};
  };
  for (size_t i = 0; i < graph().tensors.size(); ++i) {
    auto c = static_cast<size_t>(classes_.of(static_cast<int>(i)));
    Storage& place = program_.tensors[i];
    place = buffer_of_[c] >= 0 ? storage(buffer_of_[c]) : classes_.storage_of_class(static_cast<int>(c));
    if (place.kind == StorageKind::kArena || place.kind == StorageKind::kState)
      place.offset += classes_.offset(static_cast<int>(i));
  }
  for (Aside& aside : set_aside_) aside.storage = storage(aside.buffer);
  bool in_caller = options_.inputs == Contract::kPreserve;
  for (size_t i = 0; i < graph().inputs.size(); ++i)
    program_.inputs.push_back(in_caller ? Storage{StorageKind::kInput, static_cast<int>(i), 0}
                                        : program_.tensors[at(graph().inputs[i].tensor)]);
  bool out_caller = options_.outputs == Contract::kPreserve;
  for (size_t i = 0; i < graph().outputs.size(); ++i)
    program_.outputs.push_back(out_caller           ? Storage{StorageKind::kOutput, static_cast<int>(i), 0}
                               : copied_outputs_[i] ? storage(*copied_outputs_[i])
                                                    : program_.tensors[at(graph().outputs[i].tensor)]);
}

}  // namespace aotc::plan
