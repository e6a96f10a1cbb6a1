// SPDX-License-Identifier: Apache-2.0
// Estimates the code size of a firmware from the text of its files, before it is built.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "project/board.h"

namespace aotc::driver {

// Estimated code bytes of a firmware that contains these files (name -> content). The estimate is more often too high
// than too low.
int64_t code_of_firmware(const std::map<std::string, std::string>& files, const project::Board& board);

// Estimated code bytes of the model's own files.
int64_t code_of_model(const std::map<std::string, std::string>& files);

}  // namespace aotc::driver
