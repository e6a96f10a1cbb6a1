// SPDX-License-Identifier: Apache-2.0
// The runs that verify makes of a model, and the file that hands them to firmware. The one thing to know:
// runs of a model with state follow one another. Its state is carried from run to run by the firmware; but
// where floats come near a state through the C library's exp or tanh, which differ in their last bits
// from one library to another, each run is given the state that the reference has.
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
  bool reset = false;  // begins anew: a first run
};

struct RunSequence {
  std::vector<Run> runs;
  bool state_given = false;
};

// The samples one after the other; of a model with state then the first ones once more after a reset.
RunSequence sequence_of(const graph::Graph& graph, const std::vector<Sample>& samples);

// What one call of the run function gives, each time that it is made.
struct CallResult {
  int call = -1, result = 0;
  std::vector<uint8_t> bytes;
};

struct RunValues {
  std::vector<std::vector<uint8_t>> values;  // by tensor id of the graph
  std::vector<CallResult> calls;             // in the order in which they are made
  bool gave_up = false;                      // a loop did not end (ops::Evaluation)
};

// What the reference gives for each run of a graph; `program` (may be null) is made of it, and says which
// call an operator is. Without, RunValues::calls stays empty.
std::vector<RunValues> evaluate_sequence(const graph::Graph& graph, const RunSequence& sequence,
                                         const plan::Program* program = nullptr);

// The bytes of each output after a run, of what evaluate_graph gave: an output may be a constant or an input.
std::vector<std::vector<uint8_t>> output_values(const graph::Graph& graph, const Sample& inputs,
                                                const std::vector<std::vector<uint8_t>>& values);

// How far from the reference the results of one run may be: the one rule of verify and of the self test in
// firmware. Inside of branches and loops nothing is known of what becomes of floats that the C library
// computes there or before: such a result is not compared, only what comes out of there is.
class RunTolerances {
 public:
  // `run`: what the reference gives for these inputs.
  RunTolerances(const plan::Program& program, const Sample& inputs, const RunValues& run);

  // Of a tensor of the program's graph, whose value in the reference is `value`. None: it is not compared.
  std::optional<ops::Tolerance> of(graph::TensorId id, std::span<const uint8_t> value) const;

 private:
  const plan::Program& program_;
  std::vector<ops::Tolerance> outside_;  // by tensor of the outermost graph, whose ids are the program's
  bool inexact_inside_ = false;
};

// The file that firmware's verify mode reads (templates/bare_metal/src/main.c).
std::string sequence_file(const plan::Program& program, const RunSequence& sequence);

}  // namespace aotc::driver
