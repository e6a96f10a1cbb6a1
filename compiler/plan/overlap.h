// SPDX-License-Identifier: Apache-2.0
// How far a call's result may be placed over the operand it reads, from the write order that the
// lowering published. The one thing to know: distances are result offset minus operand offset, in
// bytes; a result at or below `forward`, or at or above `backward`, destroys nothing that is still
// to be read.
#pragma once

#include <cstdint>

#include "ops/lowering.h"

namespace aotc::plan {

struct OverlapLimits {
  int64_t forward = 0;   // result offset - operand offset <= forward is safe
  int64_t backward = 0;  // result offset - operand offset >= backward is safe
};

// Sizes in bytes bound the limits: without overlap, forward = -result and backward = operand.
OverlapLimits overlap_limits(const ops::WriteOrder& order, int64_t operand_bytes, int64_t result_bytes);

}  // namespace aotc::plan
