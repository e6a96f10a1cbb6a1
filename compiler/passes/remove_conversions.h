// SPDX-License-Identifier: Apache-2.0
// Pass that removes conversions to another representation and back, such as dequantize followed by quantize with the
// same parameters. The round trip is proven over every 8- or 16-bit value. Quantize followed by dequantize rounds, and
// is removed only with PassOptions::remove_rounding. The first of a pair stays for the dead code pass, because others
// may read it.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status remove_conversions(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
