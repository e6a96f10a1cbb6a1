// SPDX-License-Identifier: Apache-2.0
// What the firmware compares itself with: a checksum of every layer's result for a stored input, by
// the reference evaluation.
#pragma once

#include <vector>

#include "driver/compilation.h"
#include "driver/inputs.h"
#include "project/generate.h"

namespace aotc::driver {

// In the order in which the run function reports results to its trace hook. Empty if the model has
// operators that were given in C: they have no reference.
std::vector<project::LayerCheck> layer_checks(const Compiled& compiled, const Sample& sample);

// "CONV_2D 'name'" of every call.
std::vector<std::string> layer_names(const Compiled& compiled);

}  // namespace aotc::driver
