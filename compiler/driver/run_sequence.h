// SPDX-License-Identifier: Apache-2.0
// RunSequence: the runs that verify makes of a model, and the file that passes them to firmware. Runs of a model with
// state follow one another, and the firmware carries the state. If floats reach a state through the C library's exp or
// tanh, whose last bits differ between libraries, each run receives the reference's state instead.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/inputs.h"
#include "ops/operator.h"
#include "ops/tolerance.h"
#include "plan/program.h"

namespace aotc::driver {

struct Run {
  Sample inputs;
  bool reset = false;  // a first run: the state is reset before it
};

struct RunSequence {
  std::vector<Run> runs;
  bool state_given = false;
};

// The samples in order; for a model with state, then the first ones again after a reset.
RunSequence sequence_of(const graph::Graph& graph, const std::vector<Sample>& samples);

// The results of one execution of a call.
struct CallResult {
  int call = -1, result = 0;
  std::vector<uint8_t> bytes;
};

struct RunValues {
  std::vector<std::vector<uint8_t>> values;  // by tensor id of the graph
  std::vector<CallResult> calls;             // in order of execution
  bool gave_up = false;                      // a loop did not end (ops::Evaluation)
};

// The reference values of each run of a graph. `program` (may be null), planned from the graph, maps operators to
// calls; without it RunValues::calls stays empty.
std::vector<RunValues> evaluate_sequence(const graph::Graph& graph, const RunSequence& sequence,
                                         const plan::Program* program = nullptr);

// The bytes of each output after a run, from the results of evaluate_graph; an output may be a constant or an input.
std::vector<std::vector<uint8_t>> output_values(const graph::Graph& graph, const Sample& inputs,
                                                const std::vector<std::vector<uint8_t>>& values);

// The tolerances of one run's results, shared by verify and the firmware's self test. Inside of branches and loops the
// error of floats that the C library computed is unknown: such results are not compared, only the results of the branch
// or loop.
class RunTolerances {
 public:
  // `run`: the reference values for these inputs.
  RunTolerances(const plan::Program& program, const Sample& inputs, const RunValues& run);

  // The tolerance of a tensor of the program's graph, whose reference value is `value`; nullopt: do not compare it.
  std::optional<ops::Tolerance> of(graph::TensorId id, std::span<const uint8_t> value) const;

 private:
  const plan::Program& program_;
  std::vector<ops::Tolerance> outside_;  // by tensor of the outermost graph, whose ids are the program's
  bool inexact_inside_ = false;
};

// The file that firmware's verify mode reads (templates/bare_metal/src/main.c).
std::string sequence_file(const plan::Program& program, const RunSequence& sequence);

}  // namespace aotc::driver
