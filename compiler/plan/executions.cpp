// SPDX-License-Identifier: Apache-2.0
#include "plan/executions.h"

#include <algorithm>

#include "ops/operator.h"
#include "plan/flatten.h"
#include "plan/trip_count.h"

namespace aotc::plan {

namespace {

int64_t sum_of(int64_t a, int64_t b) { return std::min(a + b, kMostWork); }

void visit(const std::vector<ProgramStep>& steps, int64_t times, bool per_iteration, Executions& out) {
  for (const ProgramStep& step : steps) {
    if (step.kind == ProgramStep::Kind::kCall) {
      out.times[static_cast<size_t>(step.call)] = times;
      out.per_iteration[static_cast<size_t>(step.call)] = per_iteration;
    } else if (step.kind == ProgramStep::Kind::kLoop) {
      const bool known = step.trip_count >= 0;
      out.known = out.known && known;
      visit(step.blocks[0], known ? multiplied(times, step.trip_count + 1) : times, per_iteration || !known, out);
      visit(step.blocks[1], known ? multiplied(times, step.trip_count) : times, per_iteration || !known, out);
    } else {
      for (const auto& block : step.blocks) visit(block, times, per_iteration, out);
    }
  }
}

// The work of a loop, from that of one execution of its condition and its body; one iteration if `trips` is negative.
int64_t of_loop(int64_t condition, int64_t body, int64_t trips) {
  if (trips < 0) return sum_of(condition, body);
  return sum_of(multiplied(condition, trips + 1), multiplied(body, trips));
}

int64_t sum(const std::vector<ProgramStep>& steps, const std::vector<int64_t>& once) {
  int64_t out = 0;
  for (const ProgramStep& step : steps) {
    if (step.kind == ProgramStep::Kind::kCall) {
      out = sum_of(out, once[static_cast<size_t>(step.call)]);
      continue;
    }
    std::vector<int64_t> blocks;
    for (const auto& block : step.blocks) blocks.push_back(sum(block, once));
    if (step.kind == ProgramStep::Kind::kBranch) out = sum_of(out, std::max(blocks[0], blocks[1]));
    else if (step.kind == ProgramStep::Kind::kLoop) out = sum_of(out, of_loop(blocks[0], blocks[1], step.trip_count));
    else
      for (int64_t block : blocks) out = sum_of(out, block);
  }
  return out;
}

int64_t macs_of_op(const graph::Graph& graph, const graph::Op& op) { return ops::definition_of(op).macs({graph, op}); }

int64_t sum(const graph::Graph& graph, const Block& block) {
  int64_t out = 0;
  for (const Step& step : block.steps) {
    if (step.kind == Step::Kind::kOp) {
      out = sum_of(out, macs_of_op(graph, graph.ops[static_cast<size_t>(step.op)]));
      continue;
    }
    const int64_t first = sum(graph, step.blocks[0]), second = sum(graph, step.blocks[1]);
    if (step.kind == Step::Kind::kIf) {
      out = sum_of(out, std::max(first, second));
      continue;
    }
    const int64_t trips = first + second > 0 ? trip_count(graph, step) : 0;
    out = sum_of(out, of_loop(first, second, trips));
  }
  return out;
}

}  // namespace

int64_t multiplied(int64_t work, int64_t times) {
  return times != 0 && work > kMostWork / times ? kMostWork : work * times;
}

int64_t macs_of(const graph::Graph& graph) {
  if (has_regions(graph)) {
    const FlatGraph flat = flatten(graph);
    return sum(flat.graph, flat.body);
  }
  int64_t out = 0;
  for (const graph::Op& op : graph.ops) out += macs_of_op(graph, op);
  return out;
}

Executions executions_of(const Program& program) {
  Executions out;
  out.times.assign(program.calls.size(), 1);
  out.per_iteration.assign(program.calls.size(), false);
  visit(program.body, 1, false, out);
  return out;
}

int64_t total_of(const Program& program, const std::vector<int64_t>& once) { return sum(program.body, once); }

}  // namespace aotc::plan
