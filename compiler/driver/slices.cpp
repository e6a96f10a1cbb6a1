// SPDX-License-Identifier: Apache-2.0
#include "driver/slices.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "driver/compile_checks.h"
#include "plan/instructions.h"
#include "support/search.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// What schedules call the height of their bands, and how many pixels share the loads of weights.
constexpr const char *kRows = "rows", *kPixels = "pixels";

// Asks for less in one turn wherever a part is too long: bands of half as many rows, or one pixel
// fewer, beside what was asked for before: so there is an end. False where that changes nothing.
bool ask_for_less(const SlicedPlan& now, const CompileOptions& options, int64_t limit, const ops::Schedules& before,
                  ops::Schedules& asked, const std::set<ops::OperatorKey>& refused) {
  bool changed = false;
  // Operators of regions share numbers with those of the model.
  if (now.program.source != nullptr) return false;
  const std::vector<int> parts = plan::parts_of(now.program.graph);
  for (size_t c = 0; c < now.program.calls.size(); ++c) {
    const plan::ProgramCall& call = now.program.calls[c];
    if (now.instructions[c] <= limit || call.op_index < 0) continue;
    const auto index = static_cast<size_t>(call.op_index);
    const ops::OperatorKey op(now.program.graph.ops[index].location.op_index, parts[index]);
    if (ops::find_schedule(options.schedules, op.op_index, op.part) || refused.contains(op)) continue;
    for (const char* name : {kRows, kPixels}) {
      const auto number = call.schedule.numbers.find(name);
      if (number == call.schedule.numbers.end() || number->second < 2) continue;
      if (before.contains(op)) asked[op] = before.at(op);
      asked[op].algorithm = call.schedule.algorithm;
      asked[op].numbers[name] = name == kRows ? (number->second + 1) / 2 : number->second - 1;
      changed = true;
      break;
    }
  }
  return changed;
}

constexpr int64_t kFiner = 8;

Result<SlicedPlan> plan_once(graph::Graph graph, const plan::PlanOptions& options, int64_t limit, Diagnostics& diags) {
  auto program = plan::plan_program(std::move(graph), options, diags);
  if (!program) return kFailure;
  SlicedPlan out;
  out.program = std::move(*program);
  if (limit == 0) return out;
  auto bands = plan::plan_bands(out.program, options.target, limit, diags);
  if (!bands) return kFailure;
  out.bands = std::move(*bands);
  for (const plan::CallBands& call : out.bands.calls) out.instructions.push_back(call.instructions);
  return out;
}

bool fits(const SlicedPlan& plan, int64_t limit) {
  return std::all_of(plan.instructions.begin(), plan.instructions.end(),
                     [&](int64_t instructions) { return instructions <= limit; });
}

// What cannot be had is asked for no more.
Result<SlicedPlan> plan_shorter(const graph::Graph& graph, plan::PlanOptions& plan_options, int64_t limit,
                                const ops::Schedules& asked, std::set<ops::OperatorKey>& refused) {
  const ops::Schedules before = plan_options.schedules;
  for (const auto& [op, schedule] : asked) {
    plan_options.schedules = before;
    plan_options.schedules[op] = schedule;
    Diagnostics unsaid;
    if (!plan::plan_program(graph, plan_options, unsaid)) refused.insert(op);
  }
  plan_options.schedules = before;
  for (const auto& [op, schedule] : asked)
    if (!refused.contains(op)) plan_options.schedules[op] = schedule;
  Diagnostics unsaid;
  return plan_once(graph, plan_options, limit, unsaid);
}

}  // namespace

int64_t slice_limit(const CompileOptions& options) {
  const std::string& text = options.slice;
  const bool digits = !text.empty() && text.size() <= 9 && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? std::stoll(text) : 0;
}

Status check_slices(const CompileOptions& options, Diagnostics& diags) {
  auto conflict = [&](const std::string& what, const std::string& help) -> Status {
    return conflicting(options.model_path, what, help, diags);
  };
  if (options.slice.empty()) return success();
  if (options.slice != "call" && slice_limit(options) == 0)
    return conflict(fmt::format("--slice {} is not a number of instructions", escape_for_display(options.slice)),
                    "write --slice call, or a number of up to nine digits");
  if (slice_limit(options) > 0 && options.convention != CallingConvention::kPlain)
    return conflict(
        fmt::format(
            "--slice {} splits operator calls into parts, but {} functions have no arguments for the bounds of a part",
            options.slice, name_of(options.convention)),
        "use --slice call, or omit --calling-convention");
  if (options.memory == codegen::MemoryMode::kWorkspace)
    return conflict(
        "--slice keeps intermediate tensors between slices, but blocks of --memory workspace must be freed in the "
        "reverse order of their allocation",
        "plan the memory with --memory static, or omit --slice");
  return success();
}

Result<SlicedPlan> plan_in_slices(graph::Graph graph, const CompileOptions& options, plan::PlanOptions& plan_options,
                                  Diagnostics& diags) {
  const int64_t limit = slice_limit(options);
  plan_options.target.slice = limit;
  // Shorter slices are planned again.
  auto plan = plan_once(limit == 0 ? std::move(graph) : graph, plan_options, limit, diags);
  if (!plan) return kFailure;
  if (options.slice == "call") {
    plan->instructions = plan::instructions_of_calls(plan->program, plan_options.target);
    // Of rows that are fed a slice is what one of them makes possible.
    if (const auto feeds = plan::instructions_of_feeds(plan->program, plan_options.target); !feeds.empty()) {
      const int64_t behind = std::accumulate(plan->instructions.begin() + 1, plan->instructions.end(), int64_t{0});
      const plan::Feeding& fed = *plan->program.feeding;
      plan->instructions[0] = 0;
      for (size_t row = 0; row < feeds.size(); ++row) {
        const int64_t since = static_cast<int64_t>(row) + 1 - fed.rows();  // the first result
        const bool result = since >= 0 && since % fed.step == 0;
        plan->instructions[0] = std::max(plan->instructions[0], feeds[row] - (result ? behind : 0));
      }
    }
  }
  if (limit == 0) return plan;
  const int64_t arena = plan->program.arena_bytes;
  std::set<ops::OperatorKey> refused;
  auto smaller_schedules = [&] {
    ops::Schedules asked;
    return ask_for_less(*plan, options, limit, plan_options.schedules, asked, refused) ? std::vector{asked}
                                                                                       : std::vector<ops::Schedules>();
  };
  search<ops::Schedules>({{smaller_schedules, Again::kAfterSuccess}}, [&](const ops::Schedules& asked) {
    auto shorter = plan_shorter(graph, plan_options, limit, asked, refused);
    if (shorter) plan = std::move(shorter);
    return static_cast<bool>(shorter);
  });
  // Where that is not enough, more and so shorter turns of what kernels do at once.
  auto finer = [&] {
    const int64_t now = plan_options.target.slice;
    return now > 1 && !fits(*plan, limit) ? std::vector{std::max<int64_t>(now / kFiner, 1)} : std::vector<int64_t>();
  };
  search<int64_t>({{finer, Again::kAfterSuccess}}, [&](int64_t slice) {
    plan_options.target.slice = slice;
    plan = plan_once(graph, plan_options, limit, diags);
    return static_cast<bool>(plan);
  });
  if (!plan) return kFailure;
  if (!plan::check_bands(plan->program, plan->bands, limit, diags)) return kFailure;
  plan->more_arena = plan->program.arena_bytes - arena;
  return plan;
}

std::optional<LongestSlice> longest_slice_of(const Compiled& compiled) {
  const std::vector<int64_t>& calls = compiled.instructions;
  // Of functions that were given in C nothing is known.
  if (calls.empty() || std::count(calls.begin(), calls.end(), 0) > 0) return std::nullopt;
  const auto longest = std::max_element(calls.begin(), calls.end());
  return LongestSlice{static_cast<size_t>(longest - calls.begin()), *longest};
}

std::optional<LongestFeed> longest_feed_of(const Compiled& compiled) {
  const std::vector<int64_t> feeds = plan::instructions_of_feeds(compiled.program, compiled.plan_options.target);
  if (feeds.empty()) return std::nullopt;
  const auto longest = std::max_element(feeds.begin(), feeds.end());
  return LongestFeed{longest - feeds.begin(), *longest};
}

Status check_feed(const CompileOptions& options, Diagnostics& diags) {
  if (!options.feed) return success();
  if (options.convention != CallingConvention::kPlain)
    return conflicting(options.model_path,
                       fmt::format("--input rows splits operator calls into parts, but {} functions have no arguments "
                                   "for the bounds of a part",
                                   name_of(options.convention)),
                       "omit --input rows, or omit --calling-convention", diags);
  if (options.memory == codegen::MemoryMode::kWorkspace)
    return conflicting(
        options.model_path,
        "--input rows keeps rows between feeds, but blocks of --memory workspace are freed when a function returns",
        "plan the memory with --memory static, or omit --input rows", diags);
  return success();
}

}  // namespace aotc::driver
