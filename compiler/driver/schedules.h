// SPDX-License-Identifier: Apache-2.0
// Reads and writes schedules files: JSON with the algorithm and parameters of each operator's code, and with the
// arrangement of all operators. The source map NAME.map.json of a compilation has the same form, so it can be edited
// and passed to --schedules.
//
//   {"arrangement": {"segments": [{"first": 0, "last": 3}]},
//    "calls": [{"op_index": 2, "schedule": {"algorithm": "pairs", "pixels": 4}}]}
#pragma once

#include <map>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "plan/model_schedule.h"
#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::driver {

struct ScheduleFile {
  ops::Schedules operators;
  std::optional<plan::Arrangement> arrangement;
  bool operator==(const ScheduleFile&) const = default;
};

// Parses a schedules file. Calls without a schedule are skipped. Reports [schedule-file] with the position in the file.
Result<ScheduleFile> parse_schedules(const std::string& text, const std::string& file, Diagnostics& diags);

// Reads a file of at most a few megabytes. Reports [file-read] as well.
Result<ScheduleFile> load_schedules(const std::string& path, Diagnostics& diags);

// {"algorithm": "pairs", "pixels": 4}
nlohmann::ordered_json schedule_json(const ops::Schedule& schedule);
// The value of "calls" in a schedules file.
nlohmann::ordered_json schedules_json(const ops::Schedules& schedules);

}  // namespace aotc::driver
