// SPDX-License-Identifier: Apache-2.0
// Pass partition-devices: inserts a device_copy for each tensor that is read on another device, one for all readers of
// a device; outputs are copied to the host. Afterwards every operator but copies reads and writes only tensors of its
// own device.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status partition_devices(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Pass order-devices: for asynchronous devices, moves independent operators of the host to after a launch, and delays
// the copy that waits for the launch as much as possible.
Status order_devices(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
