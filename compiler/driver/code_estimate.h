// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "project/board.h"

namespace aotc::driver {

// Bytes of code of a project around these files (name -> content), rather too many than too few; compared with linked
// firmware by test_linked of tests/boards/test_memories.py.
int64_t code_of_firmware(const std::map<std::string, std::string>& files, const project::Board& board);

}  // namespace aotc::driver
