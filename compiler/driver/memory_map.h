// SPDX-License-Identifier: Apache-2.0
// Where everything lies in the arena (or in pools), and from which call to which: the plan as data,
// for pictures and for those who look for a byte. The one thing to know: what shares bytes is
// listed apart.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "plan/program.h"

namespace aotc::driver {

// A tensor's name as JSON has it: all of it, escaped as in messages.
std::string whole_name(const std::string& tensor);

// One entry per tensor and scratch buffer with a place of its own, in the order of their first
// call:
// {"tensor" (none: scratch), "pool" (if there are several), "offset", "bytes", "first_call",
// "last_call"}. An input begins at -1, before the first call; an output that lies here ends at the
// number of calls. Views have their operand's entry.
nlohmann::ordered_json memory_json(const plan::Program& program);

// One entry per tensor that somebody needs, in the graph's order: {"name", "dtype", "shape", "bytes",
// "storage"}: "arena" and "state" with "offset", "arena" with "first_call" and "last_call" as above and
// "pool" if there are several, "input" and "output" with the "index" of the caller's buffer; what is constant
// lies in tables, in whatever form the operators read it. Views and parts have entries as well.
nlohmann::ordered_json tensors_json(const plan::Program& program);

}  // namespace aotc::driver
