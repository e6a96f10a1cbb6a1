// SPDX-License-Identifier: Apache-2.0
// Pass that removes conversions to another representation and back, such as dequantize followed by quantize with the
// same parameters. The pass evaluates the round trip for every 8- or 16-bit value to prove that it changes nothing.
// Quantize followed by dequantize rounds, so it is removed only with PassOptions::remove_rounding. The pass removes
// only the second operator of a pair; the dead code pass removes the first one if nothing else reads its result.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status remove_conversions(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
