// SPDX-License-Identifier: Apache-2.0
// The meaning of a kernel, run over unknown data.
#pragma once

#include <vector>

#include "memory.h"
#include "tir/tir.h"

namespace aotc::tests::proof {

// Parameter i of the function is region i. Throws Failure, or NeedsKnown if a decision depends on a table.
void run_meaning(Terms& terms, Memory& memory, const tir::Function& meaning, const std::vector<int32_t>& scalars);

}  // namespace aotc::tests::proof
