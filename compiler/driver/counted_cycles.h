// SPDX-License-Identifier: Apache-2.0
// The cycles of one inference that `analyze cycles` counted in the emulator: kept beside a project's firmware, where
// report finds them. The one thing to know: what was counted of another image is not there.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "driver/project_dir.h"

namespace aotc::driver {

// `found`: what `analyze cycles --json` prints of the project's run function.
void save_cycles(const ProjectDir& project, const nlohmann::ordered_json& found);
// To a report: "counted" (cycles, instructions, cpu, costs) and of layers "counted_cycles", "counted_instructions".
void add_counted_cycles(const ProjectDir& project, nlohmann::ordered_json& report);

}  // namespace aotc::driver
