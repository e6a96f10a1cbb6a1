// SPDX-License-Identifier: Apache-2.0
#include "plan/program.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "ops/operator.h"
#include "plan/moves.h"
#include "plan/planner.h"
#include "plan/repeats.h"
#include "plan/search.h"
#include "plan/spaces.h"

namespace aotc::plan {

using graph::Graph;

std::span<const Planner::Pass> Planner::passes() {
  static constexpr Pass kPasses[] = {
      {{"bind-externals", "lowering asks whether the caller's memory, a constant or a view holds a tensor"},
       [](Planner& p) -> Status { return p.bind_externals(), success(); }},
      {{"check-size", "lowering takes longest, so a graph that will be refused is refused first"},
       [](Planner& p) -> Status { return p.few_enough(); }},
      {{"lower", "operators become loops, as the schedule says"}, [](Planner& p) -> Status { return p.lower_all(); }},
      {{"settle-moves", "a tensor need not be copied if its maker can write it where it goes"},
       [](Planner& p) -> Status { return settle_moves(p.flat_, p.classes_, p.lowered_), success(); }},
      {{"emit-calls", "calls get their order, and the copies that branches and loops need"},
       [](Planner& p) -> Status {
         p.program_.body = p.emit(p.flat_.body);
         return success();
       }},
      {{"copy-outputs", "an output that lies elsewhere is copied behind all calls"},
       [](Planner& p) -> Status { return p.copy_outputs(), success(); }},
      {{"bind-states", "the next values of states replace the present ones when nobody reads these any more"},
       [](Planner& p) -> Status { return p.bind_states(), success(); }},
      {{"merge-functions", "functions that differ in numbers become one, with a table that needs a place"},
       [](Planner& p) -> Status { return p.merge_similar(), success(); }},
      {{"place", "all lifetimes are known, so all bytes of the arena can be shared"},
       [](Planner& p) -> Status { return p.place(); }},
      {{"bind-arguments", "calls and conditions get the places of what they read and write"},
       [](Planner& p) -> Status {
         p.bind_arguments();
         p.bind_conditions(p.program_.body);
         return success();
       }},
      {{"place-constants", "tables follow the order in which calls use them"},
       [](Planner& p) -> Status { return p.place_constants(); }},
      {{"roll-calls", "calls that repeat with other places become a loop where that is smaller"},
       [](Planner& p) -> Status {
         // Messages of later passes name operators of the program's graph.
         p.program_.graph = std::move(p.flat_.graph);
         if (p.options_.repeats) roll_calls(p.program_);
         return success();
       }},
      {{"check-numbers", "all numbers of the program are known, so those that C cannot hold are found"},
       [](Planner& p) -> Status { return check_numbers(p.program_, p.options_.target, p.diags_); }},
      {{"tables-to-program", "last, because reads of tables in program memory are other instructions"},
       [](Planner& p) -> Status {
         if (!p.options_.program_tables || p.program_.constant_pool >= 0) return success();
         return move_tables_to_program(p.program_, p.options_.target, p.diags_);
       }},
  };
  return kPasses;
}

Result<Program> Planner::run() {
  for (const Pass& pass : passes()) {
    const auto begin = std::chrono::steady_clock::now();
    if (!pass.run(*this)) return kFailure;
    if (options_.timed) options_.timed(pass.description, std::chrono::steady_clock::now() - begin);
  }
  return std::move(program_);
}

std::vector<PlanPass> plan_passes() {
  std::vector<PlanPass> out;
  for (const Planner::Pass& pass : Planner::passes()) out.push_back(pass.description);
  return out;
}

namespace {

Failure impossible_arrangement(const Location& where, const std::string& why, Diagnostics& diags) {
  diags.error(where, "arrangement-impossible", "the model cannot have this arrangement: " + why)
      .help(
          "take the arrangement from the NAME.map.json that 'aotc compile' writes for this model with the same "
          "options");
  return kFailure;
}

// Segments are ascending and disjoint. That their operators have rows is known when they are lowered.
bool check_segments(const Graph& graph, const std::vector<Segment>& segments, std::string& problem) {
  size_t free = 0;
  for (const Segment& s : segments) {
    if (s.first < free || s.last < s.first || s.last >= graph.ops.size()) {
      problem = fmt::format("its segment {}-{} is not behind the one before it, or not in the graph", s.first, s.last);
      return false;
    }
    if (!s.bands.empty() && s.bands.size() != s.last - s.first + 1) {
      problem = fmt::format("its segment {}-{} has {} bands", s.first, s.last, s.bands.size());
      return false;
    }
    free = s.last + 1;
  }
  return true;
}

Status check_control(const Graph& graph, const PlanOptions& options, Diagnostics& diags) {
  if (options.devices.devices.size() <= 1) return success();
  for (const graph::Op& op : graph.ops)
    if (!op.regions.empty())
      diags.error(op.location, "control-devices", "branches and loops run on one processor only")
          .help("leave --devices out, or the branches and loops to the application");
  return kFailure;
}

// What has no segments has none that is fed.
Status check_fed(const Graph& graph, const PlanOptions& options, Diagnostics& diags) {
  if (is_plain(graph, options)) return success();
  Location where;
  where.file = graph.source_file;
  const char *what = "a model with branches or loops has no rows", *help = "leave --input rows out";
  if (options.devices.devices.size() > 1) {
    what = "a plan for several devices has no rows";
    help = "leave --input rows out, or --devices";
  } else if (options.program_tables) {
    what = "kernels of rows cannot read tables in program memory";
    help = "leave --input rows out, or keep the tables in RAM with --constants ram";
  }
  diags.error(where, "rows-impossible", std::string("the input cannot be fed by rows: ") + what).help(help);
  return kFailure;
}

}  // namespace

int merge_at_least(ops::Level level) {
  switch (level) {
    case ops::Level::kSize: return 2;
    case ops::Level::kBalanced: return 3;
    case ops::Level::kSpeed: return 0;
  }
  return 3;
}

Result<Program> plan_schedule(Graph graph, const ModelSchedule& schedule, const PlanOptions& options,
                              Diagnostics& diags, PlanHints* hints) {
  std::shared_ptr<const Graph> source;
  if (has_regions(graph)) {
    if (!check_control(graph, options, diags)) return kFailure;
    source = std::make_shared<const Graph>(graph);
  }
  Location where;
  where.file = graph.source_file;
  std::string impossible;
  const bool plain = is_plain(graph, options);
  if (!plain && !schedule.arrangement.segments.empty())
    return impossible_arrangement(where, "only a plan for one device, without branches, has rows", diags);
  auto windows = arrange(graph, schedule.arrangement, impossible);
  if (!windows) return impossible_arrangement(where, impossible, diags);
  if (!check_segments(graph, schedule.arrangement.segments, impossible))
    return impossible_arrangement(where, impossible, diags);
  Planner planner(flatten(std::move(graph)), options, schedule, std::move(*windows), diags);
  auto program = planner.run();
  if (!program) {
    if (diags.error_count() > 0) return kFailure;
    return impossible_arrangement(where, "operators of a segment cannot be computed row by row", diags);
  }
  program->source = std::move(source);
  program->schedule = schedule;
  if (hints) hints->order = planner.emptier_order();
  return program;
}

Result<Program> plan_program(Graph graph, const PlanOptions& options, Diagnostics& diags) {
  if (has_regions(graph) && !check_control(graph, options, diags)) return kFailure;
  if (options.feed && !check_fed(graph, options, diags)) return kFailure;
  if (!options.arrangement) return search_arrangement(graph, options, diags);
  Location where;
  where.file = graph.source_file;
  auto program = plan_schedule(std::move(graph), {*options.arrangement, options.schedules}, options, diags);
  if (program && !is_fed(*program, options))
    return impossible_arrangement(where, "no segment begins with the input, which is fed by rows", diags);
  return program;
}

}  // namespace aotc::plan
