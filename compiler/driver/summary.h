// SPDX-License-Identifier: Apache-2.0
// Prints the summary of a compilation: memory, flash and MACs compared with the board's limits, as text and JSON; and
// the figures of the last run of a project.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "driver/compilation.h"
#include "driver/project_dir.h"
#include "driver/stack_need.h"

namespace aotc::driver {

// `stack`: the stack of a run, if requested.
std::string summary_text(const Compiled& compiled, const StackNeed* stack = nullptr);
// A line that compares the peak of live tensors with the arena. The peak is larger if outputs reuse the memory of
// inputs (in-place), because the peak counts both. Empty if the peak is not larger, or for MemoryMode::kWorkspace.
std::string live_text(const Compiled& compiled);
nlohmann::ordered_json summary_json(const Compiled& compiled, const StackNeed* stack = nullptr);

// One entry per call. Verify, report and external tests use the entries to map traces to layers.
nlohmann::ordered_json layers_json(const Compiled& compiled);

// The hash of the built firmware; empty if there is none. Stored figures are valid only for the same hash.
std::string image_hash(const ProjectDir& project);

// Stores the figures of a run in build/run.json, where report reads them.
void save_run(const ProjectDir& project, const FirmwareRun& run);
// The unit of the run's figures: ticks of the board's clock, or the emulator's unit if the emulator ran last.
std::string unit_of_run(const ProjectDir& project, const nlohmann::ordered_json& run);
nlohmann::ordered_json load_run(const ProjectDir& project);

}  // namespace aotc::driver
