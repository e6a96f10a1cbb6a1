// SPDX-License-Identifier: Apache-2.0
// The runs that verify makes of a model, and the file that hands them to firmware. The one thing to know:
// runs of a model with state follow one another. Its state is carried from run to run by the firmware; but
// where floats come near a state through the C library's exp or tanh, which differ in their last bits
// from one library to another, each run is given the state that the reference has.
#pragma once

#include <string>
#include <vector>

#include "driver/inputs.h"
#include "ops/operator.h"
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

// What the reference gives for each run, by tensor id.
std::vector<std::vector<std::vector<uint8_t>>> evaluate_sequence(const graph::Graph& graph,
                                                                 const RunSequence& sequence);

// The file that firmware's verify mode reads (templates/bare_metal/src/main.c).
std::string sequence_file(const plan::Program& program, const RunSequence& sequence);

}  // namespace aotc::driver
