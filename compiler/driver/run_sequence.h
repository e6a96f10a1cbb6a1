// SPDX-License-Identifier: Apache-2.0
// RunSequence: the runs of a model that verify makes, and the file that passes them to firmware. Normally the firmware
// keeps a model's state from run to run. The last bits of the C library's exp and tanh differ between libraries. If a
// model with state calls them, each run therefore receives its state from the reference.
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
  bool reset = false;  // true if the state is reset before the run
};

struct RunSequence {
  std::vector<Run> runs;
  bool state_given = false;
};

// One run for each sample, in order. For a model with state, the first samples are run again after a reset.
RunSequence sequence_of(const graph::Graph& graph, const std::vector<Sample>& samples);

// One result of one execution of a call.
struct CallResult {
  int call = -1, result = 0;
  std::vector<uint8_t> bytes;
};

struct RunValues {
  std::vector<std::vector<uint8_t>> values;  // by tensor id of the graph
  std::vector<CallResult> calls;             // in order of execution
  bool gave_up = false;                      // true if loops reached the limit of iterations (ops::Evaluation)
};

// The reference values of each run of a graph. `program`: planned from the graph, maps operators to calls. If it is
// null, RunValues::calls stays empty.
std::vector<RunValues> evaluate_sequence(const graph::Graph& graph, const RunSequence& sequence,
                                         const plan::Program* program = nullptr);

// The bytes of each output after a run, from the results of evaluate_graph; an output may be a constant or an input.
std::vector<std::vector<uint8_t>> output_values(const graph::Graph& graph, const Sample& inputs,
                                                const std::vector<std::vector<uint8_t>>& values);

// The tolerances of one run's results, shared by verify and the firmware's self test. Inside branches and loops, the
// error of floats that depend on the C library is unknown. Such results are not compared; only the results of the
// branch or loop are.
class RunTolerances {
 public:
  // `run`: the reference values for these inputs.
  RunTolerances(const plan::Program& program, const Sample& inputs, const RunValues& run);

  // The tolerance of a tensor of the program's graph, whose reference value is `value`; nullopt: do not compare it.
  std::optional<ops::Tolerance> of(graph::TensorId id, std::span<const uint8_t> value) const;

 private:
  const plan::Program& program_;
  std::vector<ops::Tolerance> outside_;  // by tensor of the outermost graph, which has the same ids in the program
  bool inexact_inside_ = false;
};

// The file that firmware's verify mode reads (templates/bare_metal/src/main.c).
std::string sequence_file(const plan::Program& program, const RunSequence& sequence);

}  // namespace aotc::driver
