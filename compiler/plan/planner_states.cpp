// SPDX-License-Identifier: Apache-2.0
// The planner and what lives from run to run.
#include "plan/planner.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "ops/common/pieces.h"
#include "plan/moves.h"

namespace aotc::plan {

using graph::Graph;
using graph::TensorId;

void Planner::bind_windows() {
  for (const Window& window : program_.windows) {
    const graph::Op &push = graph().ops[window.push], &slide = graph().ops[window.slide];
    const TensorId before = graph().states[window.state].before;
    pushes_[window.push] = slides_[window.slide] = &window;
    for (TensorId id : {push.results[0], slide.results[0]}) classes_.join(before, id, external_of(before));
    const std::vector<int64_t> begins = *ops::joined_of({graph(), push});
    for (size_t i = 1; i < begins.size(); ++i)
      if (window.there[i])
        classes_.take_piece(before, {class_of(push.operands[i])},
                            begins[i] * size_of(graph()[push.operands[i]].type.dtype));
  }
}

void Planner::place_states() {
  const auto& states = graph().states;
  std::vector<int64_t> bytes(states.size(), 0), alignment(states.size(), 1);
  for (size_t t = 0; t < graph().tensors.size(); ++t) {
    const Storage& storage = classes_.storage_of_class(classes_.of(static_cast<int>(t)));
    if (storage.kind != StorageKind::kState) continue;
    const graph::TensorType& type = graph().tensors[t].type;
    const auto i = static_cast<size_t>(storage.index);
    bytes[i] = std::max(bytes[i], classes_.offset(static_cast<int>(t)) + type.bytes());
    alignment[i] = std::max(alignment[i], alignment_of(type.dtype, type.bytes()));
  }
  std::vector<size_t> order(states.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return alignment[a] > alignment[b]; });
  program_.states.resize(states.size());
  program_.initial_values.assign(states.size(), -1);
  for (size_t i : order) {
    const int64_t step = alignment[i], offset = (program_.state_bytes + step - 1) / step * step;
    program_.states[i] = {StorageKind::kState, static_cast<int>(i), offset};
    program_.state_bytes = offset + bytes[i];
    external_of(states[i].before) = program_.states[i];
  }
}

void Planner::bind_states() {
  const auto& states = graph().states;
  std::vector<size_t> copied;
  for (size_t i = 0; i < states.size(); ++i) {
    intern_initial_value(i);
    if (class_of(states[i].before) == class_of(states[i].after)) continue;
    if (may_replace(i)) external_of(states[i].after) = program_.states[i];
    else copied.push_back(i);
  }
  // What one state holds now and another is to hold next is set aside before either changes.
  std::map<size_t, int> aside;
  for (size_t i : copied) {
    if (external_of(states[i].after).kind != StorageKind::kState) continue;
    int index = static_cast<int>(set_aside_.size());
    set_aside_.push_back({graph()[states[i].after].type, -1});
    program_.body.push_back(call_step());
    add_copy({CopyEnd::kTensor, states[i].after.value}, {CopyEnd::kAside, index});
    aside[i] = index;
  }
  for (size_t i : copied) {
    CopyEnd from{CopyEnd::kTensor, states[i].after.value};
    if (auto found = aside.find(i); found != aside.end()) from = {CopyEnd::kAside, found->second};
    program_.body.push_back(call_step());
    add_copy(from, {CopyEnd::kState, static_cast<int>(i)});
  }
}

void Planner::intern_initial_value(size_t state) {
  std::span<const uint8_t> bytes = graph().states[state].initial.bytes;
  if (std::adjacent_find(bytes.begin(), bytes.end(), std::not_equal_to<>()) == bytes.end()) return;
  const graph::Tensor& tensor = graph()[graph().states[state].before];
  program_.initial_values[state] = intern_constant(-1, {"initial", tensor.type.dtype, {bytes.begin(), bytes.end()}, 4});
}

bool Planner::may_replace(size_t state) {
  TensorId before = graph().states[state].before, after = graph().states[state].after;
  const int old = class_of(before), next = class_of(after);
  if (external_of(after).kind != StorageKind::kNone) return false;
  for (const graph::Port& port : graph().outputs)
    if (class_of(port.tensor) == next) return false;
  for (size_t i = 0; i < graph().states.size(); ++i)
    if (i != state && (class_of(graph().states[i].after) == old || class_of(graph().states[i].after) == next))
      return false;
  if (!conditions_.empty() && !plain_around(old, next)) return false;
  for (size_t c = 0, written = SIZE_MAX; c < program_.calls.size(); ++c) {
    bool reads = reads_class(c, old);
    if (reads && written < c) return false;
    if (!writes_class(c, next)) continue;
    if (program_.calls[c].device != 0 || (reads && !replaces(c, old, next))) return false;
    written = std::min(written, c);
  }
  return true;
}

bool Planner::replaces(size_t call, int old, int next) const {
  const PendingCall& pending = pending_[call];
  const graph::Op& op = graph().ops[static_cast<size_t>(program_.calls[call].op_index)];
  return in_place(graph(), op, pending.args, pending.write_orders, classes_, old, next);
}

bool Planner::plain_around(int old, int next) {
  for (TensorId id : conditions_)
    if (class_of(id) == old || class_of(id) == next) return false;
  for (size_t c = 0; c < program_.calls.size(); ++c) {
    if (!reads_class(c, old) && !reads_class(c, next) && !writes_class(c, old) && !writes_class(c, next)) continue;
    int op = program_.calls[c].op_index;
    bool output = pending_[c].copy && pending_[c].copy->to.kind == CopyEnd::kOutput;
    if (!output && (op < 0 || !flat_.outermost[static_cast<size_t>(op)])) return false;
  }
  return true;
}

bool Planner::reads_class(size_t call, int wanted) {
  if (const auto& copy = pending_[call].copy; copy && copy->from.kind == CopyEnd::kTensor)
    return classes_.of(copy->from.index) == wanted;
  return std::any_of(pending_[call].args.begin(), pending_[call].args.end(), [&](const ops::Arg& arg) {
    TensorId id = arg.kind == ops::ArgKind::kOperand ? tensor_of(call, arg) : TensorId{};
    return id.valid() && class_of(id) == wanted;
  });
}

bool Planner::writes_class(size_t call, int wanted) {
  if (const auto& copy = pending_[call].copy; copy && copy->to.kind == CopyEnd::kResult)
    return classes_.of(copy->to.index) == wanted;
  return std::any_of(pending_[call].args.begin(), pending_[call].args.end(), [&](const ops::Arg& arg) {
    TensorId id = arg.kind == ops::ArgKind::kResult ? tensor_of(call, arg) : TensorId{};
    return id.valid() && class_of(id) == wanted;
  });
}

}  // namespace aotc::plan
