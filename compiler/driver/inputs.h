// SPDX-License-Identifier: Apache-2.0
// Reads or generates inputs for run and verify: .npy files or seeded random bytes per graph input.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "support/diagnostics.h"

namespace aotc::driver {

using Sample = std::vector<std::vector<uint8_t>>;  // one buffer per graph input

// Returns the next 64 random bits (SplitMix64), which are the same on every machine.
uint64_t next_random(uint64_t& state);

// Random values for each input, deterministic for a seed. Integers are uniform over their type, but int32 and int64 are
// from 0 to 99, and inputs that operators use as indices are valid indices. Floats are uniform in [-1, 1).
Sample random_sample(const graph::Graph& graph, uint64_t seed);

// Files in input order, or NAME=FILE in any order. Each file contains one sample (shape of the input, with or without
// the leading 1) or several samples, stacked along a new axis or the batch axis. All files contain the same number of
// samples. Reports [input-shape], [input-type], [input-count], [input-name].
Result<std::vector<Sample>> read_samples(const graph::Graph& graph, const std::vector<std::string>& files,
                                         Diagnostics& diags);

}  // namespace aotc::driver
