// SPDX-License-Identifier: Apache-2.0
// One model on every board: what it takes there, and whether it fits. The one thing to know: it is compiled once for each
// core, so boards of one core differ in what they hold and in their clocks only.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "driver/compilation.h"

namespace aotc::driver {

// "boards" of a report, a row for each but the host: "board", "cpu", "chosen" (of one), "fits", "arena_bytes", "constants_bytes",
// "ram_needed" and "flash_needed" with what is around a model, and, where they are known, "estimated_instructions", "estimated_cycles"
// (memory without wait states) and "milliseconds" at the board's full clock. What cannot be compiled for a core is left out.
nlohmann::ordered_json boards_json(const CompileOptions& options);

}  // namespace aotc::driver
