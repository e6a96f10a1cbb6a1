// SPDX-License-Identifier: Apache-2.0
// Reads and writes schedules files: JSON with the algorithm and parameters of each operator's code. The source map
// NAME.map.json of a compilation has the same form, so it can be edited and passed to --schedules.
//
//   {"calls": [{"op_index": 2, "schedule": {"algorithm": "pairs", "pixels": 4}}]}
#pragma once

#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "ops/schedule.h"
#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::driver {

// Parses the schedules; the key is the operator's index in the model's file. Calls without a schedule are skipped.
// Reports [schedule-file] with the position in the file.
Result<std::map<int, ops::Schedule>> parse_schedules(const std::string& text, const std::string& file,
                                                     Diagnostics& diags);

// Reads a file of at most a few megabytes. Reports [file-read] as well.
Result<std::map<int, ops::Schedule>> load_schedules(const std::string& path, Diagnostics& diags);

// {"algorithm": "pairs", "pixels": 4}
nlohmann::ordered_json schedule_json(const ops::Schedule& schedule);
// The value of "calls" in a schedules file.
nlohmann::ordered_json schedules_json(const std::map<int, ops::Schedule>& schedules);

}  // namespace aotc::driver
