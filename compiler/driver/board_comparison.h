// SPDX-License-Identifier: Apache-2.0
// Compiles one model for every board, and reports the memory that the model needs and whether it fits. The model is
// compiled once for each core, so boards with the same core differ only in their memories and clocks.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "driver/compilation.h"

namespace aotc::driver {

// "boards" of a report: an array with an object for each board except the host. Its members are "board", "cpu",
// "chosen" (only for the requested board), "fits", "arena_bytes", "constants_bytes", "ram_needed" and "flash_needed"
// including the firmware, and, if known, "estimated_instructions", "estimated_cycles" (memory without wait states) and
// "milliseconds" at the board's full clock. Cores for which the model cannot be compiled are omitted.
nlohmann::ordered_json boards_json(const CompileOptions& options);

}  // namespace aotc::driver
