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
  int op_index = -1;
  bool explain = false;
};

nlohmann::ordered_json json_of(const Alternative& a) {
  nlohmann::ordered_json j;
  j["schedule"] = schedule_json(a.schedule);
  j["name"] = a.name;
  j["chosen"] = a.chosen;
  j["chosen_by"] = a.chosen_by;
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

std::string difference_text(double from, double to, const char* what) {
  if (from <= 0 || to <= 0 || std::llround(from) == std::llround(to)) return "";
  const double percent = 100 * (to - from) / from;
  return fmt::format("{:.{}f} % {} {}", std::abs(percent), std::abs(percent) < 1 ? 2 : 0, to > from ? "more" : "fewer",
                     what);
}

std::string difference_text(int64_t from, int64_t to, const char* what) {
  if (from == to) return "";
  return fmt::format("{} bytes {} {}", with_commas(std::abs(to - from)), to > from ? "more" : "less", what);
}

// What `a` has more or less than `chosen`.
std::string difference_text(const Alternative& chosen, const Alternative& a) {
  const bool cycles = chosen.schedule.cycles > 0 && a.schedule.cycles > 0;
  std::vector<std::string> parts;
  for (const std::string& part :
       {cycles ? difference_text(chosen.schedule.cycles, a.schedule.cycles, "cycles")
               : difference_text(chosen.schedule.instructions, a.schedule.instructions, "instructions"),
        difference_text(chosen.constant_bytes, a.constant_bytes, "constants"),
        difference_text(chosen.scratch_bytes, a.scratch_bytes, "scratch")})
    if (!part.empty()) parts.push_back(part);
  return parts.empty() ? "the same figures, other code" : joined(parts, ", ");
}

// Why the larger tables of `a` are not worth the flash; empty if they are, or if `a` has none. `price`: instructions of
// a run that a byte of flash must save.
std::string price_text(const Alternative& a, double price) {
  const double bytes = a.schedule.more_bytes, saved = a.schedule.saved_instructions;
  if (bytes <= 0 || saved > price * bytes) return "";
  return fmt::format("; it saves {:.1f} instructions for each further byte of constants, but must save {:.1f}",
                     saved / bytes, price);
}

// Why an alternative is chosen, or not.
std::string reason_of(const OperatorAlternatives& op, const Alternative& a, const ops::TargetInfo& target) {
  const Alternative& chosen = op.alternatives[0];
  if (!a.chosen) return difference_text(chosen, a);
  const Alternative* best = &chosen;
  for (const Alternative& other : op.alternatives)
    if (other.cost() > 0 && other.cost() < best->cost()) best = &other;
  if (op.alternatives.size() == 1 && op.total == 1) return "chosen: the only one";
  if (best == &chosen)
    return op.total > op.alternatives.size() ? "chosen: the lowest estimate of those listed"
                                             : "chosen: the lowest estimate";
  return fmt::format("chosen; '{}' has {}{}", best->schedule.text(), difference_text(chosen, *best),
                     target.level == ops::Level::kSpeed ? "" : price_text(*best, target.instructions_per_byte));
}

// "-O balanced", "-O size --prefer ram", "every option".
std::string choosers_text(const std::vector<std::string>& options) {
  constexpr std::string_view kRam = " --prefer ram";
  std::vector<std::string> out;
  size_t levels = 0;
  for (size_t i = 0; i < options.size(); ++i) {
    const std::string& one = options[i];
    const bool both = i + 1 < options.size() && options[i + 1] == one + std::string(kRam);
    levels += both;
    out.push_back(both || one.ends_with(kRam) ? one : one + " --prefer cycles");
    if (both) ++i;
  }
  return levels == 3 ? "every option" : joined(out, ", ");
}

// With `explains`, also the options that choose each schedule, and why it was taken or not.
void print_alternatives(const std::vector<OperatorAlternatives>& operators, bool explains,
                        const ops::TargetInfo& target) {
  std::vector<std::string> head = {"op_index", "type", "schedule", "estimate", "constants", "scratch"};
  if (explains) head.insert(head.end(), {"chosen by", "reason"});
  std::vector<std::vector<std::string>> rows = {head};
  for (const OperatorAlternatives& op : operators)
    for (const Alternative& a : op.alternatives) {
      const std::string text = a.schedule.text();
      rows.push_back({std::to_string(op.op_index), escape_for_display(op.op_type),
                      (text.empty() ? "-" : text) + (a.chosen ? " *" : ""),
                      a.cost() > 0 ? with_commas(std::llround(a.cost())) : "", with_commas(a.constant_bytes),
                      with_commas(a.scratch_bytes)});
      if (explains) rows.back().insert(rows.back().end(), {choosers_text(a.chosen_by), reason_of(op, a, target)});
    }
  print_out("{}", format_table(rows));
}

int schedules_command(const ScheduleListing& state) {
  Diagnostics diags;
  auto compiled = compile_model(state.compile, diags);
  if (!compiled) return fail(diags);
  const auto operators = alternatives_of(
      *compiled, {.most = state.most, .op_index = state.op_index, .choosers = state.explain || state.common.json});
  if (operators.empty() && state.op_index >= 0) {
    Location where;
    where.file = state.compile.model_path;
    diags
        .error(where, "op-unknown",
               fmt::format("operator {} has no schedule of its own, or the model has no such operator", state.op_index))
        .help("'aotc schedules' without --op lists the operators that have schedules");
    return fail(diags);
  }
  if (state.common.json) {
    print_alternatives_json(operators);
    return kExitDone;
  }
  print_alternatives(operators, state.explain, compiled->plan_options.target);
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
                  {.names = "--op",
                   .value = "INDEX",
                   .target = &s->op_index,
                   .help = "List only the operator with this index in the model's file",
                   .range = options::Range{0, 1000000},
                   .common = true},
                  {.names = "--explain",
                   .target = &s->explain,
                   .help = "Print for each schedule which values of -O and --prefer choose it, and why it is chosen or "
                           "what it has more or less than the chosen one",
                   .common = true},
                  json_option(s->common),
                  quiet_option(s->common)},
      .groups = compile_groups(s->compile),
      .run = [s] { return schedules_command(*s); }};
}

}  // namespace aotc::driver
