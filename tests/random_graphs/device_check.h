// SPDX-License-Identifier: Apache-2.0
// The same graph over several devices and pools gives the same bytes, and no byte serves two devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/program.h"

namespace aotc::tests {

// `graph` verifies; `expected` are the outputs of each of `inputs` by reference evaluation. Deals the
// operators out to three devices and the tensors to two pools of the host's, as `seed` says. Empty, or
// what went wrong.
std::string check_devices(graph::Graph graph, const plan::PlanOptions& options, uint64_t seed,
                          const std::vector<std::vector<std::vector<uint8_t>>>& inputs,
                          const std::vector<std::vector<std::vector<uint8_t>>>& expected);

}  // namespace aotc::tests
