// SPDX-License-Identifier: Apache-2.0
#include "driver/run_sequence.h"

#include <algorithm>

namespace aotc::driver {

namespace {

constexpr uint32_t kMagic = 0x43544F41, kMagicOfState = 0x53544F41;
constexpr uint32_t kResets = 1, kHasState = 2;
constexpr size_t kRunsBehindReset = 2;

void put_u32(std::string& out, uint32_t v) { out.append(reinterpret_cast<const char*>(&v), 4); }

void put_bytes(std::string& out, const std::vector<uint8_t>& bytes) {
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Calls `visit(run, states)` for each run; it makes the run, which changes the states.
template <typename Visit>
void follow(const graph::Graph& graph, const RunSequence& sequence, const Visit& visit) {
  ops::StateValues states = ops::initial_states(graph);
  for (const Run& run : sequence.runs) {
    if (run.reset) states = ops::initial_states(graph);
    visit(run, states);
  }
}

// By operator of the program's graph: its call, -1 for views.
std::vector<int> calls_of_ops(const plan::Program& program) {
  std::vector<int> out(program.graph.ops.size(), -1);
  for (size_t c = 0; c < program.calls.size(); ++c)
    if (program.calls[c].op_index >= 0) out[static_cast<size_t>(program.calls[c].op_index)] = static_cast<int>(c);
  return out;
}

}  // namespace

RunSequence sequence_of(const graph::Graph& graph, const std::vector<Sample>& samples) {
  RunSequence out;
  for (const Sample& sample : samples) out.runs.push_back({sample, false});
  if (graph.states.empty()) return out;
  if (!out.runs.empty()) out.runs[0].reset = true;
  for (size_t i = 0; i < std::min(kRunsBehindReset, samples.size()); ++i) out.runs.push_back({samples[i], i == 0});
  out.state_given = ops::calls_library(graph);
  return out;
}

RunTolerances::RunTolerances(const plan::Program& program, const Sample& inputs, const RunValues& run)
    : program_(program),
      outside_(ops::tolerances(program.reference(), inputs, run.values)),
      inexact_inside_(program.source != nullptr && ops::calls_library(*program.source)) {}

std::optional<ops::Tolerance> RunTolerances::of(graph::TensorId id, std::span<const uint8_t> value) const {
  const auto index = static_cast<size_t>(id.value);
  if (index < outside_.size()) return outside_[index];
  if (program_.graph[id].type.dtype != DType::kF32) return ops::Tolerance();
  if (inexact_inside_) return std::nullopt;
  return ops::Tolerance{0, ops::ulp_of_largest(value)};
}

std::vector<RunValues> evaluate_sequence(const graph::Graph& graph, const RunSequence& sequence,
                                         const plan::Program* program) {
  std::vector<RunValues> out;
  const std::vector<int> calls = program ? calls_of_ops(*program) : std::vector<int>();
  follow(graph, sequence, [&](const Run& run, ops::StateValues& states) {
    RunValues& values = out.emplace_back();
    ops::Evaluation evaluation;
    evaluation.states = &states;
    if (program)
      evaluation.after = [&](size_t index, const graph::Graph&, const graph::Op&, const auto& results) {
        const int op = program->flat_ops[index];
        const int call = op < 0 ? -1 : calls[static_cast<size_t>(op)];
        for (size_t r = 0; call >= 0 && r < results.size(); ++r)
          values.calls.push_back({call, static_cast<int>(r), {results[r].begin(), results[r].end()}});
      };
    values.values = ops::evaluate_graph(graph, run.inputs, evaluation);
    values.gave_up = evaluation.gave_up;
  });
  return out;
}

std::vector<std::vector<uint8_t>> output_values(const graph::Graph& graph, const Sample& inputs,
                                                const std::vector<std::vector<uint8_t>>& values) {
  std::vector<std::vector<uint8_t>> out;
  for (const graph::Port& port : graph.outputs) {
    const graph::TensorId id = port.tensor;
    std::vector<uint8_t>& value = out.emplace_back(values[static_cast<size_t>(id.value)]);
    if (graph.is_constant(id)) value.assign(graph[id].constant->bytes.begin(), graph[id].constant->bytes.end());
    for (size_t i = 0; value.empty() && i < graph.inputs.size(); ++i)
      if (graph.inputs[i].tensor == id) value = inputs[i];
  }
  return out;
}

std::string sequence_file(const plan::Program& program, const RunSequence& sequence) {
  const graph::Graph& graph = program.reference();
  std::string out;
  const bool stateful = !graph.states.empty();
  put_u32(out, stateful ? kMagicOfState : kMagic);
  put_u32(out, static_cast<uint32_t>(sequence.runs.size()));
  auto put_run = [&](const Run& run, const ops::StateValues& states) {
    const bool given = sequence.state_given && !run.reset;
    if (stateful) put_u32(out, (run.reset ? kResets : 0) | (given ? kHasState : 0));
    if (stateful && given) {
      std::vector<uint8_t> memory(static_cast<size_t>(program.state_bytes), 0);
      for (size_t i = 0; i < states.size(); ++i)
        std::copy(states[i].begin(), states[i].end(), memory.begin() + program.states[i].offset);
      put_bytes(out, memory);
    }
    for (const auto& input : run.inputs) put_bytes(out, input);
  };
  if (!stateful || !sequence.state_given) {
    for (const Run& run : sequence.runs) put_run(run, {});
    return out;
  }
  follow(graph, sequence, [&](const Run& run, ops::StateValues& states) {
    put_run(run, states);
    ops::evaluate_graph(graph, run.inputs, &states);
  });
  return out;
}

}  // namespace aotc::driver
