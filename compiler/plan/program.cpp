// SPDX-License-Identifier: Apache-2.0
#include "plan/program.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/operator.h"
#include "plan/moves.h"
#include "plan/planner.h"
#include "plan/repeats.h"
#include "plan/search.h"
#include "plan/spaces.h"

namespace aotc::plan {

using graph::Graph;

Result<Program> Planner::run() {
  bind_externals();
  if (!few_enough() || !lower_all()) return kFailure;
  settle_moves(flat_, classes_, lowered_);
  program_.body = emit(flat_.body);
  copy_outputs();
  bind_states();
  merge_similar();
  if (!place()) return kFailure;
  bind_arguments();
  bind_conditions(program_.body);
  if (!place_constants()) return kFailure;
  // Messages of what follows name operators of the program's graph.
  program_.graph = std::move(flat_.graph);
  if (options_.repeats) roll_calls(program_);
  if (!check_numbers(program_, options_.target, diags_)) return kFailure;
  if (options_.program_tables && program_.constant_pool < 0 &&
      !move_tables_to_program(program_, options_.target, diags_))
    return kFailure;
  return std::move(program_);
}

namespace {

// Regions without operators are regions, too.
bool has_regions(const Graph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [](const graph::Op& op) { return !op.regions.empty(); });
}

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
