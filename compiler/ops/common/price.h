// SPDX-License-Identifier: Apache-2.0
// The price of flash, for a faster way that takes more of it.
#pragma once

#include "ops/lowering.h"

namespace aotc::ops {

// True if a way that saves so many instructions of a call is worth so many more bytes of tables or code: at
// Level::kSpeed always, otherwise by TargetInfo::instructions_per_byte.
inline bool is_worth_flash(const TargetInfo& target, double saved_instructions, double more_bytes) {
  if (target.level == Level::kSpeed) return saved_instructions >= 0;
  return saved_instructions * target.calls > target.instructions_per_byte * more_bytes;
}

}  // namespace aotc::ops
