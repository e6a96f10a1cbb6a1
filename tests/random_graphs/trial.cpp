// SPDX-License-Identifier: Apache-2.0
#include "trial.h"

#include <set>

#include <fmt/format.h>

#include "../tools/compare.h"
#include "device_check.h"
#include "generator.h"
#include "memory_check.h"
#include "ops/operator.h"
#include "passes/pipeline.h"
#include "plan/parts.h"
#include "plan/segments.h"
#include "plan/text.h"
#include "plan/verify.h"
#include "targets.h"
#include "tir/tir.h"

namespace aotc::tests {

using graph::Graph;
using graph::TensorId;
using Values = Batches::Values;

namespace {

constexpr uint64_t kSamples = 2, kRunsWithState = 5, kReset = 3;

// Every output's bytes, by reference evaluation.
Values outputs_of(const Graph& g, const Values& in, ops::StateValues& states) {
  const ops::StateValues before = states;
  const Values values = ops::evaluate_graph(g, in, &states);
  Values out;
  for (const graph::Port& port : g.outputs) {
    auto id = static_cast<size_t>(port.tensor.value);
    if (g.is_constant(port.tensor))
      out.emplace_back(g.tensors[id].constant->bytes.begin(), g.tensors[id].constant->bytes.end());
    else out.push_back(values[id]);
  }
  return out;
}

// Two NaNs are equal whatever their bits; `difference` with a bound knows.
std::string unequal(std::span<const uint8_t> have, std::span<const uint8_t> want, DType type) {
  std::string d = difference(have, want, type, 0);
  return d.find("(0 ulp)") != std::string::npos && difference(have, want, type, 1).empty() ? "" : d;
}

// The results of every operator that is a call, in the order in which they are computed.
struct Computed {
  int flat_op;
  Values results;
};
std::vector<Computed> computed_by(const plan::Program& program, const Values& in, ops::StateValues& states) {
  std::set<int> called;
  for (const plan::ProgramCall& call : program.calls) called.insert(call.op_index);
  std::vector<Computed> out;
  ops::Evaluation evaluation;
  evaluation.states = &states;
  evaluation.after = [&](size_t index, const Graph&, const graph::Op&, const std::vector<std::span<uint8_t>>& results) {
    const int flat = program.flat_ops[index];
    if (flat < 0 || !called.contains(flat)) return;
    out.push_back({flat, {}});
    for (std::span<uint8_t> bytes : results) out.back().results.emplace_back(bytes.begin(), bytes.end());
  };
  ops::evaluate_graph(program.reference(), in, evaluation);
  return out;
}

}  // namespace

Trial::Trial(uint64_t seed, Graph graph, bool rows) : seed_(seed), graph_(std::move(graph)), rows_(rows) {
  const bool state = !graph_.states.empty();
  for (uint64_t s = 0; s < (state ? kRunsWithState : kSamples); ++s)
    runs_.inputs.push_back(random_inputs(graph_, seed * (state ? kRunsWithState : kSamples) + s));
  if (state) runs_.reset = kReset;
}

std::optional<Batches::Slices> Trial::slices() const {
  if (seed_ % 4 != 3) return std::nullopt;
  // Whole calls, and parts from the shortest there are to some thousands.
  static const int64_t kLimits[] = {0, 1, 300, 2000};
  return Batches::Slices{target_of(seed_), kLimits[seed_ / 4 % std::size(kLimits)]};
}

plan::PlanOptions Trial::plan_options() const {
  plan::PlanOptions options = plan_options_of(seed_);
  if (auto sliced = slices()) options.target.slice = sliced->limit;
  return options;
}

std::string Trial::run() {
  if (!ops::verify_graph(graph_, diags_)) return "does not verify: " + diags_.str();
  if (std::string bad = round_trip(); !bad.empty()) return bad;
  ops::StateValues states = ops::initial_states(graph_);
  for (size_t s = 0; s < runs_.inputs.size(); ++s) {
    if (s == runs_.reset) states = ops::initial_states(graph_);
    runs_.expected.push_back(outputs_of(graph_, runs_.inputs[s], states));
  }
  if (std::string bad = run_passes(); !bad.empty()) return bad;
  // Some as they are: passes take away what nobody needs, and the planner has to be right with it.
  const Graph& planned = has_regions(graph_) && seed_ % 4 == 1 ? graph_ : optimised_;
  if (!rows_ || !plan_rows()) {
    plan::PlanOptions options = plan_options();
    // Some with all windows, whatever memory they take.
    if (!has_regions(planned) && seed_ % 5 != 0) {
      Graph ordered = planned;
      plan::Arrangement all;
      for (const plan::Window& window : plan::order_for_windows(ordered, plan::find_windows(planned)))
        all.windows.push_back(static_cast<int>(window.state));
      if (!all.windows.empty()) options.arrangement = all;
    }
    auto program = plan::plan_program(planned, options, diags_);
    if (!program) return "cannot be planned: " + diags_.str();
    program_ = std::move(*program);
  }
  for (const plan::ProgramFunction& f : program_.functions)
    if (!tir::verify(*f.body, diags_)) return "TIR does not verify: " + diags_.str();
  const bool many = !graph_.states.empty() || has_regions(graph_);
  if (std::string bad = check_memory(program_, many ? runs_.inputs : std::vector<Values>{runs_.inputs[0]});
      !bad.empty())
    return "memory plan: " + bad;
  if (std::string bad = divide(); !bad.empty()) return bad;
  if (std::string bad = read_back(); !bad.empty()) return bad;
  if (std::string bad = interpret(); !bad.empty()) return bad;
  // The interpreter is most of the time: not every graph twice.
  if (seed_ % 3 != 0 || has_regions(optimised_)) return "";
  std::string bad = check_devices(optimised_, plan_options_of(seed_), seed_, runs_);
  return bad.empty() ? bad : "several devices: " + bad;
}

bool Trial::streams() const {
  return std::any_of(program_.calls.begin(), program_.calls.end(), [](const auto& c) { return !c.rows.empty(); });
}

namespace {

// Half of the segments take bands: of an operator some rows at a time, or some pixels where it makes them one by one.
plan::Segment with_random_bands(const Graph& graph, plan::Segment segment, bool fed, Random& random) {
  if (random.chance(50)) return segment;
  plan::Segment banded = segment;
  for (size_t i = segment.first; i <= segment.last; ++i) {
    const ops::OpView view{graph, graph.ops[i]};
    const graph::Shape& shape = view.result().shape;
    int64_t band = 0;
    if (shape.size() == 4 && ops::row_flow(view) && random.chance(60)) {
      const bool pixels =
          ops::is_pointwise(view) && !(fed && i == segment.first) && random.chance(70);
      band = pixels ? random.pick(1, std::min<int64_t>(shape[1] * shape[2], 9))
                    : shape[2] * random.pick(1, std::min<int64_t>(shape[1], 4));
    }
    banded.bands.push_back(band);
  }
  return plan::rows_of_segment(graph, banded, fed) ? banded : segment;
}

}  // namespace

// Some operators one behind the other, of all that can be so.
bool Trial::plan_rows() {
  std::vector<plan::Segment> all;
  for (size_t first = 0; first < optimised_.ops.size(); ++first)
    for (size_t last = first + 1; last < optimised_.ops.size(); ++last)
      if (plan::rows_of_segment(optimised_, {first, last})) all.push_back({first, last});
  plan::PlanOptions options = plan_options();
  options.stream = {plan::Stream::kMax};
  Random random(seed_ ^ 0x726F7773u);
  // Every other one has its input fed by rows, where that can be.
  if (const auto fed = plan::fed_candidates(optimised_, plan::Contract::kPreserve); seed_ % 4 > 1 && !fed.empty()) {
    plan::PlanOptions by_rows = options;
    by_rows.feed = true;
    by_rows.inputs = plan::Contract::kPreserve;
    const plan::Segment chosen = fed[static_cast<size_t>(random.pick(0, static_cast<int64_t>(fed.size()) - 1))];
    const plan::Segment fed_rows = with_random_bands(optimised_, chosen, true, random);
    by_rows.arrangement = plan::Arrangement{.segments = {fed_rows}};
    Diagnostics refused;
    if (auto program = plan::plan_program(optimised_, by_rows, refused); program && program->feeding) {
      program_ = std::move(*program);
      bands_of_rows_ = !fed_rows.bands.empty();
      return true;
    }
  }
  for (int tries = 0; tries < 6 && !all.empty(); ++tries) {
    // Long ones are worth more.
    plan::Segment chosen = all[static_cast<size_t>(random.pick(0, static_cast<int64_t>(all.size()) - 1))];
    const plan::Segment other = all[static_cast<size_t>(random.pick(0, static_cast<int64_t>(all.size()) - 1))];
    if (other.last - other.first > chosen.last - chosen.first) chosen = other;
    const plan::Segment banded = with_random_bands(optimised_, chosen, false, random);
    options.arrangement = plan::Arrangement{.segments = {banded}};
    if (other.first > chosen.last) options.arrangement->segments.push_back(other);
    Diagnostics refused;
    auto program = plan::plan_program(optimised_, options, refused);
    if (!program) continue;
    program_ = std::move(*program);
    bands_of_rows_ = !banded.bands.empty();
    return true;
  }
  return false;
}

// What is interpreted in parts is so as it is emitted.
std::string Trial::divide() {
  if (const auto sliced = slices(); sliced && sliced->limit > 0) {
    auto bands = plan::plan_bands(program_, sliced->target, sliced->limit, diags_);
    if (!bands) return "cannot be divided: " + diags_.str();
    bands_ = std::move(*bands);
  }
  return plan::verify(program_, diags_, &bands_) ? "" : "the program does not verify: " + diags_.str();
}

// The program's text, and what a program read from it computes.
std::string Trial::read_back() {
  const std::string text = plan::print(program_, {true, INT64_MAX, &bands_});
  auto again = plan::parse(text, "text", diags_);
  if (!again || !plan::verify(again->program, diags_, &again->bands, &again->calls))
    return "the program's text does not read back: " + diags_.str();
  if (plan::print(again->program, {true, INT64_MAX, &again->bands}) != text)
    return "the program's text reads back to another program";
  // The interpreter is most of the time: not every graph twice.
  if (seed_ % 7 != 0) return "";
  auto out = plan::run_in_parts(again->program, again->bands, runs_.inputs[0], diags_);
  if (!out) return "the program that was read traps: " + diags_.str();
  std::string bad = differ(*out, runs_.expected[0], program_.graph);
  return bad.empty() ? bad : "the program that was read: " + bad;
}

std::string Trial::round_trip() {
  std::string text = graph::print(graph_);
  auto again = graph::parse(text, "text", ops::definition_lookup(), diags_);
  if (!again) return "printed text does not parse: " + diags_.str();
  if (graph::print(*again) != text) return "printed text reads back to something else";
  if (!ops::verify_graph(*again, diags_))
    return "printed text reads back to a graph that does not verify: " + diags_.str();
  return "";
}

std::string Trial::differ(const Values& have, const Values& want, const Graph& g) {
  if (have.size() != want.size()) return "another number of outputs";
  for (size_t o = 0; o < have.size(); ++o)
    if (std::string d = unequal(have[o], want[o], g[g.outputs[o].tensor].type.dtype); !d.empty())
      return fmt::format("output {}: {}", o, d);
  return "";
}

std::string Trial::run_passes() {
  optimised_ = graph_;
  passes::RunOptions options;
  options.verify_each = true;
  std::string bad;
  options.after = [&](const passes::Pass& pass, const Graph& g) {
    ops::StateValues states = ops::initial_states(g);
    for (size_t s = 0; s < runs_.inputs.size() && bad.empty(); ++s) {
      if (s == runs_.reset) states = ops::initial_states(g);
      std::string d = differ(outputs_of(g, runs_.inputs[s], states), runs_.expected[s], g);
      if (!d.empty()) bad = fmt::format("pass {} changes run {}, {}", pass.name, s, d);
    }
  };
  if (!passes::run_pipeline(optimised_, options, diags_)) return "passes fail: " + diags_.str();
  return bad;
}

std::string Trial::interpret() {
  ops::StateValues states;
  std::vector<uint8_t> state;
  for (size_t s = 0; s < runs_.inputs.size(); ++s) {
    if (s == 0 || s == runs_.reset) {
      states = ops::initial_states(program_.reference());
      state = plan::initial_state(program_);
    }
    std::string bad = interpret(runs_.inputs[s], state, states, runs_.expected[s]);
    if (!bad.empty()) return fmt::format("run {}: {}", s, bad);
  }
  return "";
}

// Every result of every call in the order in which they run, the outputs, and what the states hold then.
std::string Trial::interpret(const Values& in, std::vector<uint8_t>& state, ops::StateValues& states,
                             const Values& want) {
  const Graph& g = program_.graph;
  const std::vector<Computed> computed = computed_by(program_, in, states);
  std::string bad;
  size_t next = 0, result = 0;
  auto on_result = [&](int c, int r, std::span<const uint8_t> have) {
    const plan::ProgramCall& call = program_.calls[static_cast<size_t>(c)];
    const graph::Op& op = g.ops[static_cast<size_t>(call.op_index)];
    if (!bad.empty()) return;
    if (next == computed.size() || computed[next].flat_op != call.op_index) {
      bad = fmt::format("call {} ({}) runs out of turn", c, op.name());
      return;
    }
    std::string d = unequal(have, computed[next].results[static_cast<size_t>(r)],
                            g[call.results[static_cast<size_t>(r)]].type.dtype);
    if (!d.empty()) bad = fmt::format("TIR of call {} ({}): {}", c, op.name(), d);
    if (++result == call.results.size()) ++next, result = 0;
  };
  auto out = plan::run_in_parts(program_, bands_, in, diags_, on_result, &state);
  if (!out) return "TIR traps: " + diags_.str();
  if (!bad.empty()) return bad;
  if (next != computed.size()) return "calls are missing";
  for (size_t i = 0; i < states.size(); ++i) {
    auto from = state.begin() + program_.states[i].offset;
    const std::vector<uint8_t> have(from, from + static_cast<std::ptrdiff_t>(states[i].size()));
    std::string d = unequal(have, states[i], g[g.states[i].before].type.dtype);
    if (!d.empty()) return fmt::format("state {}: {}", i, d);
  }
  return differ(*out, want, g);
}

}  // namespace aotc::tests
