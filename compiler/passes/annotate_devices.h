// SPDX-License-Identifier: Apache-2.0
// Pass annotate-devices: assigns every operator to the first device, in the order of devices.json, whose patterns
// match, else to the fallback. Views follow their operand. Devices that the model's file assigns (other than the host)
// stay.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status annotate_devices(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
