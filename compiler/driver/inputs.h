// SPDX-License-Identifier: Apache-2.0
// Inputs for run and verify: from .npy files or seeded random, as bytes per graph input.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "support/diagnostics.h"

namespace aotc::driver {

using Sample = std::vector<std::vector<uint8_t>>;  // one buffer per graph input

// The next of 64 random bits (SplitMix64): small, and the same everywhere.
uint64_t next_random(uint64_t& state);

// Uniform over integer types, int32 and int64 from 0 to 99, and from what operators that take them as indices accept;
// floats uniform in [-1, 1), or over the quantised range's real values when the tensor is followed by quantisation it
// knows. Deterministic for a seed.
Sample random_sample(const graph::Graph& graph, uint64_t seed);

// Files in input order, or NAME=FILE in any order. Each file holds one sample (shape as the input,
// with or without the leading 1) or several stacked along a new or the batch axis. All files hold
// the same number of samples. Reports [input-shape], [input-type], [input-count], [input-name].
Result<std::vector<Sample>> read_samples(const graph::Graph& graph,
                                         const std::vector<std::string>& files, Diagnostics& diags);

}  // namespace aotc::driver
