// SPDX-License-Identifier: Apache-2.0
// Stores the counts of `analyze cycles` (one inference in the emulator) beside a project's firmware, for `report`.
// Counts of another firmware image are ignored.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "driver/project_dir.h"

namespace aotc::driver {

// `found`: the output of `analyze cycles --json` for the project's run function.
void save_cycles(const ProjectDir& project, const nlohmann::ordered_json& found);
// Adds "counted" (cycles, instructions, cpu, costs) to a report, and "counted_cycles", "counted_instructions" to its
// layers.
void add_counted_cycles(const ProjectDir& project, nlohmann::ordered_json& report);

}  // namespace aotc::driver
