// SPDX-License-Identifier: Apache-2.0
#include "driver/schedules.h"

#include <algorithm>
#include <climits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/files.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

using nlohmann::json;

constexpr int64_t kMostBytes = int64_t{16} << 20;

// A whole number that an int holds: a larger one would be another number where it is used.
bool is_int(const json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>() <= static_cast<uint64_t>(INT_MAX);
  return value.is_number_integer() && value.get<int64_t>() >= INT_MIN;
}

class ScheduleReader {
 public:
  ScheduleReader(const std::string& file, Diagnostics& diags) : diags_(diags) { where_.file = file; }

  Result<ScheduleFile> run(const std::string& text) {
    json root;
    if (auto problem = parse_json(text, root)) {
      where_.line = problem->place.line;
      where_.column = problem->place.column;
      return fail(fmt::format("this is not JSON: {}", escape_for_display(problem->what, 200)));
    }
    if (!root.is_object() || !root.contains("calls") || !root["calls"].is_array())
      return fail("the file has no list 'calls'");
    if (root.contains("arrangement")) {
      std::string problem;
      out_.arrangement = plan::arrangement_from_json(root["arrangement"], problem);
      if (!out_.arrangement) return fail("'arrangement' cannot be read: " + problem);
    }
    for (size_t i = 0; i < root["calls"].size(); ++i)
      if (!call(root["calls"][i], fmt::format("call {}", i))) return kFailure;
    return std::move(out_);
  }

 private:
  Failure fail(const std::string& what) {
    diags_.error(where_, "schedule-file", what).help("start from the file NAME.map.json that 'aotc compile' writes");
    return kFailure;
  }

  bool call(const json& c, const std::string& name) {
    if (!c.is_object()) return fail(name + " must be an object"), false;
    if (!c.contains("schedule")) return true;
    const json& s = c["schedule"];
    if (!c.contains("op_index") || !is_int(c["op_index"]))
      return fail(name + " has a schedule but no integer 'op_index'"), false;
    int part = -1;
    if (c.contains("part")) {
      if (!c["part"].is_number_unsigned() || !is_int(c["part"]))
        return fail(name + ": 'part' must be an integer that is not negative"), false;
      part = c["part"].get<int>();
    }
    if (!s.is_object()) return fail(name + ": 'schedule' must be an object"), false;
    ops::Schedule schedule;
    for (const auto& [key, value] : s.items()) {
      if (key == "algorithm" && value.is_string()) {
        schedule.algorithm = value.get<std::string>();
      } else if (key != "algorithm" && is_int(value)) {
        schedule.numbers[key] = value.get<int64_t>();
      } else {
        return fail(fmt::format("{}: '{}' must be {}", name, escape_for_display(key, 40),
                                key == "algorithm" ? "a string" : "an integer")),
               false;
      }
    }
    if (!out_.operators.emplace(ops::OperatorKey(c["op_index"].get<int>(), part), std::move(schedule)).second)
      return fail(fmt::format("{}: operator {} has two schedules", name, c["op_index"].get<int>())), false;
    return true;
  }

  Location where_;
  Diagnostics& diags_;
  ScheduleFile out_;
};

}  // namespace

Result<ScheduleFile> parse_schedules(const std::string& text, const std::string& file, Diagnostics& diags) {
  return ScheduleReader(file, diags).run(text);
}

Result<ScheduleFile> load_schedules(const std::string& path, Diagnostics& diags) {
  auto bytes = read_file(path, diags, kMostBytes);
  if (!bytes) return kFailure;
  return parse_schedules({bytes->begin(), bytes->end()}, path, diags);
}

nlohmann::ordered_json schedule_json(const ops::Schedule& schedule) {
  auto out = nlohmann::ordered_json::object();
  if (!schedule.algorithm.empty()) out["algorithm"] = schedule.algorithm;
  for (const auto& [name, value] : schedule.numbers) out[name] = value;
  return out;
}

nlohmann::ordered_json schedules_json(const ops::Schedules& schedules) {
  auto out = nlohmann::ordered_json::array();
  for (const auto& [key, schedule] : schedules) {
    nlohmann::ordered_json entry;
    entry["op_index"] = key.op_index;
    if (key.part >= 0) entry["part"] = key.part;
    entry["schedule"] = schedule_json(schedule);
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace aotc::driver
