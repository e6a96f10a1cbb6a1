// SPDX-License-Identifier: Apache-2.0
#include "driver/alternatives.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "cores/cpu.h"
#include "cores/instruction_counter.h"
#include "driver/estimate.h"
#include "mlf/operator_archive.h"
#include "ops/common/alike.h"
#include "ops/common/pair_budget.h"
#include "ops/operator.h"

namespace aotc::driver {

namespace {

// The names in docs/cli.md. A lowering that has another is found where it is chosen.
constexpr const char* kAlgorithms[] = {"pairs",   "fours",   "nibbles",    "words",   "halves", "winograd",
                                       "vectors", "patches", "packed",     "triples", "quads",  "tiles",
                                       "taps",    "phases",  "neighbours", "columns", "blocks"};
// What numbers are tried with: how many of something are done at a time.
constexpr int64_t kNumbers[] = {0, 1, 2, 3, 4, 5, 6, 8, 16};
// Combinations of numbers of one algorithm that are asked for.
constexpr size_t kMostProbes = 256;

class Prober {
 public:
  Prober(const Compiled& compiled, const graph::Op& op)
      : view_{compiled.program.graph, op}, target_(compiled.plan_options.target) {
    const ops::Schedule* asked = ops::find_schedule(compiled.options.schedules, op.location.op_index, -1);
    const ops::Schedule given = asked ? *asked : ops::Schedule();
    if (auto chosen = probe(given)) {
      add(*chosen, given);
      if (!out_.empty()) out_[0].chosen = true;
    }
  }

  std::vector<Alternative> run() {
    std::set<std::string> names(std::begin(kAlgorithms), std::end(kAlgorithms));
    if (!out_.empty() && !out_[0].schedule.algorithm.empty()) names.insert(out_[0].schedule.algorithm);
    if (!out_.empty()) numbers_of(ops::Schedule());
    for (const std::string& name : names) {
      ops::Schedule asked;
      asked.algorithm = name;
      numbers_of(asked);
    }
    return std::move(out_);
  }

  // Notes which levels and preferences choose each of `all`. `base`: the target without a level.
  void note_choosers(const ops::TargetInfo& base, std::vector<Alternative>& all) const {
    std::vector<ops::Goal> goals = ops::goals_from({});
    std::stable_sort(goals.begin(), goals.end(),
                     [](const ops::Goal& a, const ops::Goal& b) { return a.level < b.level; });
    for (const ops::Goal& goal : goals) {
      ops::PairBudget proofs(ops::kMostPairs);
      const ops::Lowered lowered = ops::lower(view_, cores::for_goal(base, goal));
      if (!lowered.function) continue;
      const std::string name = mlf::entry_name(*lowered.function);
      for (Alternative& a : all)
        if (a.name == name) a.chosen_by.push_back(VariantOptions{goal, {}}.options());
    }
  }

  // Sets the estimates of one run, computed as all figures that users see are.
  void estimate(Alternative& a) const {
    const auto lowered = probe(a.schedule);
    if (!lowered) return;
    const cores::LoweredCost cost = cores::estimate_of(*lowered, target_);
    a.schedule.instructions = cost.instructions;
    a.schedule.cycles = cost.cycles;
  }

 private:
  // Nothing if what is asked for cannot be had.
  std::optional<ops::Lowered> probe(const ops::Schedule& asked) const {
    ops::PairBudget proofs(ops::kMostPairs);
    ops::TargetInfo target = target_;
    target.asked = &asked;
    ops::Lowered lowered = ops::lower(view_, target);
    if (!lowered.function || !lowered.schedule.meets(asked)) return std::nullopt;
    return lowered;
  }

  void add(const ops::Lowered& lowered, const ops::Schedule& asked) {
    Alternative made;
    made.name = mlf::entry_name(*lowered.function);
    if (!names_.insert(made.name).second) return;
    made.schedule.algorithm = lowered.schedule.algorithm;
    made.schedule.numbers = asked.numbers;
    made.schedule.instructions = lowered.schedule.instructions;
    made.schedule.more_bytes = lowered.schedule.more_bytes;
    made.schedule.saved_instructions = lowered.schedule.saved_instructions;
    for (const ops::Constant& c : lowered.constants) made.constant_bytes += static_cast<int64_t>(c.bytes.size());
    made.scratch_bytes = lowered.scratch_bytes;
    out_.push_back(std::move(made));
  }

  // All combinations of the values that each number can have.
  void numbers_of(const ops::Schedule& asked) {
    const auto base = probe(asked);
    if (!base) return;
    add(*base, asked);
    std::vector<ops::Schedule> combined = {asked};
    for (const auto& [name, chosen] : base->schedule.numbers) {
      std::vector<int64_t> values;
      for (int64_t value : kNumbers) {
        ops::Schedule one = asked;
        one.numbers[name] = value;
        if (value == chosen || probe(one)) values.push_back(value);
      }
      if (values.size() < 2 || combined.size() * values.size() > kMostProbes) continue;
      std::vector<ops::Schedule> next = combined;
      for (const ops::Schedule& s : combined)
        for (int64_t value : values) {
          next.push_back(s);
          next.back().numbers[name] = value;
        }
      combined = std::move(next);
    }
    for (const ops::Schedule& s : combined)
      if (auto lowered = probe(s)) add(*lowered, s);
  }

  ops::OpView view_;
  const ops::TargetInfo& target_;
  std::set<std::string> names_;
  std::vector<Alternative> out_;
};

// The cheapest first, behind the chosen one; those of which nothing is known last.
void sort_by_cost(std::vector<Alternative>& all) {
  auto cost = [](const Alternative& a) { return a.cost() > 0 ? a.cost() : std::numeric_limits<double>::max(); };
  std::stable_sort(all.begin(), all.end(), [&](const Alternative& a, const Alternative& b) {
    if (a.chosen != b.chosen) return a.chosen;
    return cost(a) < cost(b);
  });
}

// Bytes of constants that lowering an operator reads.
int64_t weights_of(const graph::Graph& graph, const graph::Op& op) {
  int64_t out = 0;
  for (graph::TensorId id : op.operands)
    if (graph.is_constant(id)) out += graph[id].type.bytes();
  return out;
}

}  // namespace

std::vector<OperatorAlternatives> alternatives_of(const Compiled& compiled, const AlternativesChoice& choice) {
  std::vector<OperatorAlternatives> out;
  const plan::Program& p = compiled.program;
  if (p.source || choice.most == 0) return out;
  const CycleEstimate& cycles = estimated_cycles(compiled);
  const InstructionEstimate instructions = estimated_instructions(compiled);
  // A level cannot be taken back from the target of the plan.
  ops::TargetInfo base;
  if (compiled.board && !compiled.board->is_generic())
    base = project::target_of(*compiled.board, compiled.options.kernels);
  std::map<int, size_t> call_of;  // by operator
  for (size_t c = 0; c < p.calls.size(); ++c) call_of.try_emplace(p.calls[c].op_index, c);
  std::set<int> alone, indices, twice;
  for (const graph::Op& op : p.graph.ops)
    if (!indices.insert(op.location.op_index).second) twice.insert(op.location.op_index);
  for (const plan::ProgramCall& call : p.calls)
    if (call.op_index >= 0 && !call.by_rows) alone.insert(call.op_index);
  std::vector<size_t> order(p.graph.ops.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (choice.most_weights >= 0) {
    auto cost = [&](size_t i) {
      const auto call = call_of.find(static_cast<int>(i));
      if (call == call_of.end()) return int64_t{0};
      return cycles.calls.empty() ? instructions.calls[call->second] : cycles.calls[call->second];
    };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return cost(a) > cost(b); });
  }
  int64_t read = 0;
  const ops::AlikeOps alike(p.graph);
  for (size_t i : order) {
    const graph::Op& op = p.graph.ops[i];
    const ops::Traits traits = ops::definition_of(op).traits();
    // A schedule goes to all operators of an index: those that a pass made of one have none of
    // their own.
    if (traits.view || traits.external || traits.device_copy || op.location.op_index < 0 ||
        (choice.op_index >= 0 && op.location.op_index != choice.op_index) || twice.contains(op.location.op_index) ||
        !alone.contains(static_cast<int>(i)))
      continue;
    // Every alternative is lowered at least twice: where it is found, and for its estimate.
    if (choice.most_weights >= 0 && read > choice.most_weights) break;
    Prober prober(compiled, op);
    OperatorAlternatives one{op.location.op_index, op.location.op_type, prober.run()};
    // The best by the schedules' own estimate, which costs nothing; then by the one that is shown.
    sort_by_cost(one.alternatives);
    read += weights_of(p.graph, op) * static_cast<int64_t>(one.alternatives.size());
    one.total = one.alternatives.size();
    if (one.total > choice.most) one.alternatives.resize(choice.most);
    for (Alternative& a : one.alternatives) prober.estimate(a);
    // The chosen one is in the program, perhaps with others as one function.
    if (const auto call = call_of.find(static_cast<int>(i)); call != call_of.end() && !one.alternatives.empty()) {
      ops::Schedule& chosen = one.alternatives[0].schedule;
      chosen.instructions = static_cast<double>(instructions.calls[call->second]);
      if (!cycles.calls.empty()) chosen.cycles = static_cast<double>(cycles.calls[call->second]);
    }
    sort_by_cost(one.alternatives);
    if (choice.choosers) prober.note_choosers(base, one.alternatives);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace aotc::driver
