// SPDX-License-Identifier: Apache-2.0
// Pass partition-devices: if a tensor is read on another device, inserts a device_copy that all readers on that device
// share. Outputs are copied to the host. Afterwards every operator except device_copy reads and writes only tensors of
// its own device.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status partition_devices(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Pass order-devices: lets the host work while an asynchronous device runs. It moves independent operators of the host
// behind a launch, and delays the copy that waits for the launch as much as possible.
Status order_devices(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
