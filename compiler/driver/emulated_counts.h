// SPDX-License-Identifier: Apache-2.0
// Runs a linked program in its board's QEMU with a plugin that counts the executions of each instruction. The plugin
// (driver/emulator/counts.c) is compiled on demand with the C compiler of this machine.
#pragma once

#include <string>
#include <vector>

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

}  // namespace aotc::driver
