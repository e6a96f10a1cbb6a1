// SPDX-License-Identifier: Apache-2.0
// Where everything lies in the arena (or in pools), and from which call to which: the plan as data,
// for pictures and for those who look for a byte. The one thing to know: what shares bytes is
// listed apart.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "plan/program.h"

namespace aotc::driver {

// One entry per tensor and scratch buffer with a place of its own, in the order of their first
// call:
// {"tensor" (none: scratch), "pool" (if there are several), "offset", "bytes", "first_call",
// "last_call"}. An input begins at -1, before the first call; an output that lies here ends at the
// number of calls. Views have their operand's entry.
nlohmann::ordered_json memory_json(const plan::Program& program);

}  // namespace aotc::driver
