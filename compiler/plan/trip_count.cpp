// SPDX-License-Identifier: Apache-2.0
#include "plan/trip_count.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ops/operator.h"
#include "plan/program.h"

namespace aotc::plan {

namespace {

using graph::TensorId;
using Bytes = std::vector<uint8_t>;

constexpr int64_t kMostElements = 64;  // of a tensor that a condition depends on: counters and limits have 1
constexpr size_t kMostOps = 64;        // behind a condition
constexpr int64_t kMostEvaluations = int64_t{1} << 18;

class TripCounter {
 public:
  TripCounter(const graph::Graph& graph, const Step& loop) : graph_(graph), loop_(loop) {
    for (const Block& block : loop.blocks)
      for (const Step& step : block.steps) {
        if (step.kind != Step::Kind::kOp) continue;
        for (TensorId id : graph.ops[static_cast<size_t>(step.op)].results) maker_[id.value] = step.op;
      }
    for (const Move& move : loop.before) first_[move.to.value] = move.from;
    for (const Move& move : loop.blocks[1].moves) next_[move.to.value] = move.from;
  }

  int64_t run() {
    if (!needs(loop_.condition)) return -1;
    for (const auto& [to, from] : first_)
      if (needed_.contains(to)) values_[to] = constant(from);
    const auto ops = static_cast<int64_t>(ops_.size()) + 1;
    for (int64_t count = 0; count <= kMostIterations && count * ops <= kMostEvaluations; ++count) {
      made_.clear();
      const Bytes* goes = value(loop_.condition);
      if (goes == nullptr || goes->size() != 1) return -1;
      if ((*goes)[0] == 0) return count;
      // All moves happen at once.
      std::map<int32_t, Bytes> after;
      for (const auto& [to, from] : next_) {
        if (!needed_.contains(to)) continue;
        const Bytes* v = value(from);
        if (v == nullptr) return -1;
        after[to] = *v;
      }
      for (auto& [to, bytes] : after) values_[to] = std::move(bytes);
    }
    return -1;
  }

 private:
  Bytes constant(TensorId id) const {
    const auto& bytes = graph_[id].constant->bytes;
    return {bytes.begin(), bytes.end()};
  }

  // Whether constants decide a tensor; notes what it depends on.
  bool needs(TensorId id) {
    if (!id.valid() || graph_.is_constant(id) || !needed_.insert(id.value).second) return true;
    if (graph_[id].type.elements() > kMostElements) return false;
    if (const auto carried = first_.find(id.value); carried != first_.end()) {
      if (!graph_.is_constant(carried->second)) return false;
      const auto next = next_.find(id.value);
      return next == next_.end() || needs(next->second);
    }
    const auto maker = maker_.find(id.value);
    if (maker == maker_.end() || ops_.size() > kMostOps) return false;
    const graph::Op& op = graph_.ops[static_cast<size_t>(maker->second)];
    const ops::Traits traits = ops::definition_of(op).traits();
    if (traits.external || traits.may_fail || traits.control != ops::Control::kNone) return false;
    ops_.insert(maker->second);
    for (TensorId operand : op.operands)
      if (!needs(operand)) return false;
    return true;
  }

  // In this iteration.
  const Bytes* value(TensorId id) {
    if (const auto carried = values_.find(id.value); carried != values_.end()) return &carried->second;
    if (const auto made = made_.find(id.value); made != made_.end()) return &made->second;
    if (graph_.is_constant(id)) return &(made_[id.value] = constant(id));
    const auto maker = maker_.find(id.value);
    if (maker == maker_.end()) return nullptr;
    const graph::Op& op = graph_.ops[static_cast<size_t>(maker->second)];
    ops::EvalData data;
    for (TensorId operand : op.operands) {
      const Bytes* v = operand.valid() ? value(operand) : nullptr;
      if (operand.valid() && v == nullptr) return nullptr;
      data.operands.push_back(v == nullptr ? std::span<const uint8_t>() : std::span<const uint8_t>(*v));
    }
    for (TensorId result : op.results) made_[result.value] = Bytes(static_cast<size_t>(graph_[result].type.bytes()));
    for (TensorId result : op.results) data.results.emplace_back(made_[result.value]);
    ops::evaluate_op(graph_, op, data);
    return &made_[id.value];
  }

  const graph::Graph& graph_;
  const Step& loop_;
  std::map<int32_t, int> maker_;              // by tensor: the operator in the loop whose result it is
  std::map<int32_t, TensorId> first_, next_;  // by tensor that is carried from iteration to iteration
  std::set<int32_t> needed_;
  std::set<int> ops_;
  std::map<int32_t, Bytes> values_, made_;  // what is carried; what this iteration computes
};

}  // namespace

int64_t trip_count(const graph::Graph& graph, const Step& loop) { return TripCounter(graph, loop).run(); }

}  // namespace aotc::plan
