// SPDX-License-Identifier: Apache-2.0
// schedules: what --schedules can ask of each operator of a model.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/alternatives.h"
#include "driver/commands.h"
#include "driver/schedules.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

struct ScheduleListing {
  CompileOptions compile;
  CommonOptions common;
  uint32_t most = 64;
};

nlohmann::ordered_json json_of(const Alternative& a) {
  nlohmann::ordered_json j;
  j["schedule"] = schedule_json(a.schedule);
  j["name"] = a.name;
  j["chosen"] = a.chosen;
  j["constants_bytes"] = a.constant_bytes;
  j["scratch_bytes"] = a.scratch_bytes;
  if (a.schedule.instructions > 0) {
    j["estimated_instructions"] = std::llround(a.schedule.instructions);
    if (a.schedule.cycles > 0) j["estimated_cycles"] = std::llround(a.schedule.cycles);
  }
  return j;
}

void print_alternatives_json(const std::vector<OperatorAlternatives>& operators) {
  auto list = nlohmann::ordered_json::array();
  for (const OperatorAlternatives& op : operators) {
    auto alternatives = nlohmann::ordered_json::array();
    for (const Alternative& a : op.alternatives) alternatives.push_back(json_of(a));
    list.push_back({{"op_index", op.op_index}, {"op_type", op.op_type}, {"alternatives", std::move(alternatives)}});
  }
  nlohmann::ordered_json all;
  all["operators"] = std::move(list);
  print_out("{}\n", json_text(all, 1));
}

void print_alternatives(const std::vector<OperatorAlternatives>& operators) {
  std::vector<std::vector<std::string>> rows = {{"op_index", "type", "schedule", "constants", "scratch", "estimate"}};
  for (const OperatorAlternatives& op : operators)
    for (const Alternative& a : op.alternatives) {
      const std::string text = a.schedule.text();
      rows.push_back({std::to_string(op.op_index), escape_for_display(op.op_type),
                      (text.empty() ? "-" : text) + (a.chosen ? " *" : ""), with_commas(a.constant_bytes),
                      with_commas(a.scratch_bytes),
                      a.schedule.instructions > 0 ? with_commas(std::llround(a.schedule.instructions)) : ""});
    }
  print_out("{}", format_table(rows));
}

int schedules_command(const ScheduleListing& state) {
  Diagnostics diags;
  auto compiled = compile_model(state.compile, diags);
  if (!compiled) return fail(diags);
  const auto operators = alternatives_of(*compiled, state.most);
  if (state.common.json) {
    print_alternatives_json(operators);
    return kExitDone;
  }
  print_alternatives(operators);
  print_diagnostics(diags);
  return kExitDone;
}

}  // namespace

options::Command schedules_declaration() {
  auto s = std::make_shared<ScheduleListing>();
  return {
      .name = "schedules",
      .summary = "List the schedules of each operator: the ways in which aotc can compute it",
      .options = {model_argument(s->compile),
                  {.names = "--most",
                   .value = "N",
                   .target = &s->most,
                   .help = "List at most N schedules of each operator: those with the fewest estimated instructions",
                   .range = options::Range{1, 1000},
                   .common = true},
                  json_option(s->common),
                  quiet_option(s->common)},
      .groups = compile_groups(s->compile),
      .run = [s] { return schedules_command(*s); }};
}

}  // namespace aotc::driver
