// SPDX-License-Identifier: Apache-2.0
// What a compilation ends with: memory, flash and MACs beside the board's limits, as text and JSON;
// and the figures of the last run of a project.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "driver/compilation.h"
#include "driver/project_dir.h"
#include "driver/stack_need.h"

namespace aotc::driver {

// `stack`: what a run takes, if that was asked for.
std::string summary_text(const Compiled& compiled, const StackNeed* stack = nullptr);
// What the live bytes of calls have to do with the arena, where they are more; else empty.
std::string live_text(const Compiled& compiled);
nlohmann::ordered_json summary_json(const Compiled& compiled, const StackNeed* stack = nullptr);

// One entry per call: what verify, report and outside tests map traces with.
nlohmann::ordered_json layers_json(const Compiled& compiled);

// Of the firmware that is built; empty where there is none. Figures of another are not those of this one.
std::string image_hash(const ProjectDir& project);

// Keeps the figures of a run in build/run.json, where report finds them.
void save_run(const ProjectDir& project, const FirmwareRun& run);
// The unit of its figures: of the board's clock, or of the emulator's if that ran last.
std::string unit_of_run(const ProjectDir& project, const nlohmann::ordered_json& run);
nlohmann::ordered_json load_run(const ProjectDir& project);

}  // namespace aotc::driver
