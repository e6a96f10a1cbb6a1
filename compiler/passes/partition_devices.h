// SPDX-License-Identifier: Apache-2.0
// Pass partition-devices: where a tensor is read on another device than the one it is on, puts a
// device_copy between, one for all readers of a device; outputs come to the host. Afterwards every
// operator but copies reads and writes tensors of its own device only.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status partition_devices(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Pass order-devices: for devices that work asynchronously, moves the host's independent operators
// behind a launch and the copy that waits for it as late as it may be.
Status order_devices(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
