// SPDX-License-Identifier: Apache-2.0
#include "plan/program.h"
#include "plan/instructions.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/operator.h"
#include "plan/moves.h"
#include "plan/planner.h"
#include "plan/repeats.h"
#include "plan/row_bands.h"
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

Status check_control(const Graph& graph, const PlanOptions& options, Diagnostics& diags) {
  if (options.devices.devices.size() <= 1) return success();
  for (const graph::Op& op : graph.ops)
    if (!op.regions.empty())
      diags.error(op.location, "control-devices", "branches and loops run on one processor only")
          .help("leave --devices out, or the branches and loops to the application");
  return kFailure;
}

// Percent of instructions that `now` is more than `before`.
double percent_more(double now, double before) { return before > 0 ? 100 * (now - before) / before : 0; }

// As they are counted in what was lowered: the operators' own estimates are for whole tensors.
double instructions_of(const Program& program, const ops::TargetInfo& target) {
  double sum = 0;
  for (int64_t call : instructions_of_calls(program, target)) sum += static_cast<double>(call);
  return sum;
}

// The smallest arena of the plan without segments and those with segments that are worth a try; of these the list with
// the smallest arena is tried with bands, too.
class StreamPlans {
 public:
  StreamPlans(const Graph& graph, const PlanOptions& options) : graph_(graph), options_(options) {}

  Result<Program> run(Diagnostics& diags) {
    auto best = Planner(flatten(Graph(graph_)), options_, {}, diags).run();
    if (!best) return kFailure;
    whole_ = best->arena_bytes;
    instructions_ = instructions_of(*best, options_.target);
    std::vector<Segment> smallest;
    int64_t least = whole_;
    for (const std::vector<Segment>& segments : segment_candidates(graph_, options_.inputs, options_.outputs)) {
      auto program = attempt(segments);
      if (!program) continue;
      if (program->arena_bytes < least) least = program->arena_bytes, smallest = segments;
      take_better(*best, std::move(*program));
    }
    for (const std::vector<Segment>& segments : with_bands(graph_, smallest, false, options_.target))
      if (auto program = attempt(segments)) take_better(*best, std::move(*program));
    best->stream_tried = std::move(tried_);
    return best;
  }

 private:
  // Nothing where the arena is not smaller than without segments.
  Result<Program> attempt(const std::vector<Segment>& segments) {
    Diagnostics unsaid;
    auto program = Planner(flatten(Graph(graph_)), options_, segments, unsaid).run();
    if (!program || program->arena_bytes >= whole_) return kFailure;
    tried_.push_back({program->arena_bytes, percent_more(instructions_of(*program, options_.target), instructions_)});
    return program;
  }

  // The one that was tried last, if its instructions are allowed and it has the smaller arena, or fewer of them.
  void take_better(Program& best, Program program) {
    const StreamTried& now = tried_.back();
    if (now.percent > options_.stream_most && options_.stream != Stream::kMax) return;
    if (now.arena_bytes > best.arena_bytes || (now.arena_bytes == best.arena_bytes && now.percent >= percent_)) return;
    percent_ = now.percent;
    best = std::move(program);
  }

  const Graph& graph_;
  const PlanOptions& options_;
  int64_t whole_ = 0;
  double instructions_ = 0, percent_ = 0;  // of the plan without segments; more than these of the best one
  std::vector<StreamTried> tried_;
};

Result<Program> plan_streamed(const Graph& graph, const PlanOptions& options, Diagnostics& diags) {
  if (options.segments) return Planner(flatten(Graph(graph)), options, *options.segments, diags).run();
  return StreamPlans(graph, options).run(diags);
}

// Of segments at the input the one with the smallest arena; behind it others as without rows that
// are fed.
Result<Program> plan_fed(const Graph& graph, const PlanOptions& options, Diagnostics& diags) {
  if (options.segments) return Planner(flatten(Graph(graph)), options, *options.segments, diags).run();
  std::optional<Program> best;
  std::vector<Segment> chosen;
  double instructions = 0;
  auto attempt = [&](const std::vector<Segment>& segments, bool at_any_price) {
    Diagnostics unsaid;
    auto program = Planner(flatten(Graph(graph)), options, segments, unsaid).run();
    if (!program || !program->feeding || program->feeding->rows() == 0) return;
    // Rows come first.
    if (program->body[0].kind != ProgramStep::Kind::kCall || program->body[0].call != program->feeding->call) return;
    // Counting takes longest.
    if (best && program->arena_bytes > best->arena_bytes) return;
    const double now = instructions_of(*program, options.target);
    if (best && std::pair(program->arena_bytes, now) >= std::pair(best->arena_bytes, instructions)) return;
    if (best && !at_any_price && percent_more(now, instructions) > options.stream_most) return;
    best = std::move(*program);
    chosen = segments;
    instructions = now;
  };
  for (const Segment& segment : fed_candidates(graph, options.outputs)) attempt({segment}, true);
  if (!best) {
    say_why_not_fed(graph, diags);
    return kFailure;
  }
  auto attempt_bands = [&] {
    for (const std::vector<Segment>& segments : with_bands(graph, std::vector(chosen), true, options.target))
      attempt(segments, true);
    return std::move(*best);
  };
  if (options.stream == Stream::kOff) return attempt_bands();
  const Segment fed = chosen[0];
  for (std::vector<Segment>& segments : segment_candidates(graph, Contract::kPreserve, options.outputs)) {
    std::erase_if(segments, [&](const Segment& s) { return s.first <= fed.last; });
    if (segments.empty()) continue;
    segments.insert(segments.begin(), fed);
    attempt(segments, options.stream == Stream::kMax);
  }
  return attempt_bands();
}

// Frames that go on for ever: of the segments that can be so the one with the smallest arena.
Result<Program> plan_frames(const Graph& graph, const PlanOptions& options, Diagnostics& diags) {
  std::optional<Program> best;
  for (const Segment& segment : options.segments ? *options.segments : frame_candidates(graph)) {
    Diagnostics unsaid;
    auto program = Planner(flatten(Graph(graph)), options, {segment}, unsaid).run();
    if (!program || !program->feeding || program->feeding->period == 0) continue;
    if (program->body[0].call != program->feeding->call) continue;
    if (!best || program->arena_bytes < best->arena_bytes) best = std::move(*program);
  }
  if (best) return std::move(*best);
  say_why_no_frames(graph, diags);
  return kFailure;
}

// In the model's order, or in another if that makes the arena smaller and not fewer calls repeat others.
Result<Program> plan_ordered(Graph graph, const PlanOptions& options, Diagnostics& diags) {
  Planner planner(flatten(std::move(graph)), options, {}, diags);
  auto program = planner.run();
  if (!program || !planner.emptier_order()) return program;
  Graph other = program->graph;
  for (size_t i = 0; i < other.ops.size(); ++i)
    other.ops[i] = program->graph.ops[static_cast<size_t>((*planner.emptier_order())[i])];
  Diagnostics unsaid;
  auto reordered = Planner(flatten(std::move(other)), options, {}, unsaid).run();
  const bool smaller = reordered && reordered->arena_bytes < program->arena_bytes;
  return smaller && printed_calls(*reordered) <= printed_calls(*program) ? std::move(reordered) : std::move(program);
}

// What has no segments has none that is fed.
Status check_fed(const Graph& graph, const PlanOptions& options, bool plain, Diagnostics& diags) {
  if (plain) return success();
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

// A graph whose operators stand so that the windows can be, and arena and state together.
struct WithWindows {
  Graph graph;
  std::vector<Window> windows;
  int64_t bytes = INT64_MAX;  // so: it cannot be planned
};

WithWindows with_windows(const Graph& graph, PlanOptions options, const std::vector<Window>& windows) {
  WithWindows out{graph, {}};
  out.windows = options.windows = order_for_windows(out.graph, windows);
  options.feed = false;
  Diagnostics unsaid;
  const auto program = Planner(flatten(Graph(out.graph)), options, {}, unsaid).run();
  if (program) out.bytes = program->arena_bytes + program->state_bytes;
  return out;
}

// All windows that the model keeps; if arena and state together are larger with them than without any, those that make
// them so are left out one by one, the largest first.
WithWindows choose_windows(const Graph& graph, const PlanOptions& options) {
  std::vector<Window> windows = find_windows(graph);
  WithWindows without{graph, {}};
  if (windows.empty()) return without;
  without = with_windows(graph, options, {});
  WithWindows best = with_windows(graph, options, windows);
  std::stable_sort(windows.begin(), windows.end(),
                   [&](const Window& a, const Window& b) { return growth_of(graph, a) > growth_of(graph, b); });
  for (size_t i = 0; i < windows.size() && best.bytes > without.bytes;) {
    std::vector<Window> others = windows;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    WithWindows fewer = with_windows(graph, options, others);
    if (fewer.bytes >= best.bytes) {
      ++i;
      continue;
    }
    windows = std::move(others);
    best = std::move(fewer);
  }
  return best.bytes > without.bytes ? std::move(without) : std::move(best);
}

// Of a graph with all its operators in the order in which they run, if it is plain.
Result<Program> plan_in_order(Graph graph, const PlanOptions& options, bool plain, Diagnostics& diags) {
  if (options.feed) {
    if (!check_fed(graph, options, plain, diags)) return kFailure;
    return options.stream == Stream::kTime ? plan_frames(graph, options, diags) : plan_fed(graph, options, diags);
  }
  if (options.stream != Stream::kOff && plain) return plan_streamed(graph, options, diags);
  return plain ? plan_ordered(std::move(graph), options, diags)
               : Planner(flatten(std::move(graph)), options, {}, diags).run();
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

Result<Program> plan_program(graph::Graph graph, const PlanOptions& options, Diagnostics& diags) {
  std::shared_ptr<const Graph> source;
  // Regions without operators are regions, too.
  if (std::any_of(graph.ops.begin(), graph.ops.end(), [](const graph::Op& op) { return !op.regions.empty(); })) {
    if (!check_control(graph, options, diags)) return kFailure;
    source = std::make_shared<const Graph>(graph);
  }
  const bool one = source == nullptr && options.devices.devices.size() <= 1;
  // Kernels know no program memory, which rows of operators would have to.
  const bool plain = one && !options.program_tables;
  // Segments and windows that are given are numbered as operators stand.
  if (one && !options.segments && options.windows.empty() && !graph.states.empty()) {
    WithWindows chosen = choose_windows(graph, options);
    if (!chosen.windows.empty()) {
      PlanOptions with = options;
      with.windows = std::move(chosen.windows);
      Diagnostics unsaid;
      if (auto program = plan_in_order(std::move(chosen.graph), with, plain, unsaid)) return program;
    }
  }
  auto program = plan_in_order(std::move(graph), options, plain, diags);
  if (program) program->source = std::move(source);
  return program;
}

}  // namespace aotc::plan
