// SPDX-License-Identifier: Apache-2.0
// Runs a linked program in its board's QEMU with a plugin that counts the executions of each instruction. The plugin
// (driver/emulator/counts.c) is compiled on demand with the C compiler of this machine.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "driver/project_dir.h"
#include "machine/cycles.h"
#include "project/board.h"

namespace aotc::driver {

struct CountedRun {
  uint32_t root = 0;  // address of a function; 0: the whole program
  int64_t nth = 1;    // index of the counted call, from 1
  int timeout = 600;  // seconds
};

// Reports [no-emulator] for boards without QEMU, [tool-missing], [tool-failed], [device-timeout], and [root-not-run] if
// the root was called less than `nth` times.
Result<std::vector<machine::Segment>> count_instructions(const machine::Elf& elf, const project::Board& board,
                                                         const CountedRun& run, Diagnostics& diags);

// The counts of `analyze cycles` (one inference in the emulator) are stored beside a project's firmware, for `report`.
// Counts of another firmware image are ignored.
//
// `found`: the output of `analyze cycles --json` for the project's run function.
void save_cycles(const ProjectDir& project, const nlohmann::ordered_json& found);
// Adds "counted" (cycles, instructions, cpu, costs) to a report, and "counted_cycles", "counted_instructions" to its
// layers.
void add_counted_cycles(const ProjectDir& project, nlohmann::ordered_json& report);

}  // namespace aotc::driver
