// SPDX-License-Identifier: Apache-2.0
// Pass annotate-devices: assigns operators to the devices in devices.json. An operator is assigned to the first device
// whose patterns match it, or to the fallback device if none matches. A view is assigned to the device of its operand.
// If the model's file already assigns an operator to a device other than the host, the operator stays there.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status annotate_devices(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
