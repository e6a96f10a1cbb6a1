// SPDX-License-Identifier: Apache-2.0
// The same graph over several devices and pools gives the same bytes, and no byte serves two devices.
#pragma once

#include <cstdint>
#include <string>

#include "batches.h"
#include "plan/program.h"

namespace aotc::tests {

// `graph` verifies and has no regions. Deals the operators out to three devices and the tensors to two
// pools of the host's, as `seed` says. Empty, or what went wrong.
std::string check_devices(graph::Graph graph, const plan::PlanOptions& options, uint64_t seed,
                          const Batches::Runs& runs);

}  // namespace aotc::tests
