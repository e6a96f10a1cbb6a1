// SPDX-License-Identifier: Apache-2.0
// Computes the expected results of the firmware's self test: a checksum of every layer's result for a stored input,
// from the reference evaluation.
#pragma once

#include <vector>

#include "driver/compilation.h"
#include "driver/inputs.h"
#include "project/generate.h"

namespace aotc::driver {

// The checks, in the order in which the run function calls its trace hook. Empty if the model has operators given in C,
// which have no reference.
std::vector<project::LayerCheck> layer_checks(const Compiled& compiled, const Sample& sample);

// "CONV_2D 'name'" of every call.
std::vector<std::string> layer_names(const Compiled& compiled);

}  // namespace aotc::driver
