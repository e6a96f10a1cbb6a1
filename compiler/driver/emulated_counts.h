// SPDX-License-Identifier: Apache-2.0
// A linked program in its board's QEMU, with a plugin that counts how often each instruction ran.
// The one thing to know: the plugin (driver/emulator/counts.c) is compiled when it is needed, by
// the C compiler of this machine.
#pragma once

#include <string>
#include <vector>

#include "machine/cycles.h"
#include "project/board.h"

namespace aotc::driver {

struct CountedRun {
  uint32_t root = 0;  // a function; 0: all that the program runs until it ends
  int64_t nth = 1;    // which of its calls
  int timeout = 600;  // seconds
};

// Reports [no-emulator] for boards without QEMU, [tool-missing], [tool-failed], [device-timeout],
// and [root-not-run] if the root was not called so often.
Result<std::vector<machine::Segment>> count_instructions(const machine::Elf& elf,
                                                         const project::Board& board,
                                                         const CountedRun& run, Diagnostics& diags);

}  // namespace aotc::driver
