// SPDX-License-Identifier: Apache-2.0
// What each level of -O makes of a model. Code is measured with the board's own compiler, as a
// project would call it; without that compiler the other figures still stand.
#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "driver/compilation.h"

namespace aotc::driver {

struct LevelCost {
  ops::Level level = ops::Level::kBalanced;
  int64_t arena_bytes = 0, constants_bytes = 0, functions = 0;
  std::optional<int64_t> code_bytes;
};

// For every level, from size to speed. `measure_code` takes seconds: it compiles each once.
std::vector<LevelCost> cost_of_levels(const CompileOptions& options, bool measure_code);

nlohmann::ordered_json levels_json(const std::vector<LevelCost>& levels);
std::string levels_text(const std::vector<LevelCost>& levels, ops::Level chosen);

}  // namespace aotc::driver
