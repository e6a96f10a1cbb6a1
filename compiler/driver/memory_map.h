// SPDX-License-Identifier: Apache-2.0
// The memory map of the arena (or of pools) as data: the offset and lifetime of each tensor and scratch buffer. Entries
// that share memory are listed separately.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "plan/program.h"

namespace aotc::driver {

// A tensor's name for JSON: not shortened, escaped as in messages.
std::string whole_name(const std::string& tensor);

// One entry per tensor and scratch buffer with its own memory, in order of their first call: {"tensor" (missing:
// scratch), "pool" (if there are several), "offset", "bytes", "first_call", "last_call"}. An input begins at -1, before
// the first call; an output in the arena ends at the number of calls. A view (a tensor that shares its operand's bytes)
// has no entry of its own.
nlohmann::ordered_json memory_json(const plan::Program& program);

// One entry per tensor that is used, in the graph's order: {"name", "dtype", "shape", "bytes", "storage"}. Tensors
// stored in "arena" or "state" have "offset". Those in "arena" also have "first_call" and "last_call" as above, and
// "pool" if there are several. "input" and "output" have the "index" of the caller's buffer. Constants are in tables,
// in the form that the operators read. Views and parts have entries as well.
nlohmann::ordered_json tensors_json(const plan::Program& program);

}  // namespace aotc::driver
