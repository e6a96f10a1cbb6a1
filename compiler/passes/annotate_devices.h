// SPDX-License-Identifier: Apache-2.0
// Pass annotate-devices: gives every operator the device that takes it: the first whose patterns fit,
// in the order of devices.json, else the fallback. Views go where their operand is. Devices that the
// model's file has given already (a device other than the host) stay.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status annotate_devices(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
