// SPDX-License-Identifier: Apache-2.0
// Prints the summary of a compilation: memory, flash and MACs compared with the board's limits, as text and JSON; and
// the figures of the last run of a project.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "driver/compilation.h"
#include "driver/project_dir.h"
#include "driver/stack.h"
#include "plan/program.h"

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

// The memory map of the arena (or of pools) as data: the offset and lifetime of each tensor and scratch buffer. Entries
// that share memory are listed separately.
//
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
