// SPDX-License-Identifier: Apache-2.0
#include "driver/cycle_estimate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plan/constant_reads.h"
#include "plan/executions.h"
#include "plan/instructions.h"

namespace aotc::driver {

namespace {

constexpr double kInstructionBytes = 4;  // at most: many have 2

const project::Memory* memory_for(const Compiled& c, const char* use) {
  return c.board ? c.board->memory(c.board->field(std::string("placement.") + use)) : nullptr;
}

// Cycles that so many bytes wait which are read in a row, a line of flash at a time.
double waits(const project::Memory* memory, double bytes) {
  return memory == nullptr || memory->line_bytes == 0 ? 0 : bytes / memory->line_bytes * memory->wait_states;
}

bool knows_flash(const Compiled& c) {
  const project::Memory* code = memory_for(c, "code");
  return code != nullptr && code->line_bytes > 0;
}

bool known(const std::vector<int64_t>& calls) { return std::find(calls.begin(), calls.end(), 0) == calls.end(); }

void multiply(std::vector<int64_t>& calls, const plan::Program& program) {
  const std::vector<int64_t> times = plan::executions_of(program).times;
  for (size_t i = 0; i < calls.size(); ++i) calls[i] = plan::multiplied(calls[i], times[i]);
}

CycleEstimate estimate(const Compiled& c) {
  CycleEstimate out;
  out.calls = plan::cycles_of_calls(c.program, c.plan_options.target);
  if (out.calls.empty() || !known(out.calls)) return out;
  out.total = plan::total_of(c.program, out.calls);
  multiply(out.calls, c.program);
  if (out.total == 0 || !knows_flash(c)) return out;
  const std::vector<int64_t> instructions = plan::estimated_instructions_of_calls(c.program, c.plan_options.target);
  const std::vector<double> reads = plan::constant_reads(c.program);
  const double code = kInstructionBytes * static_cast<double>(plan::total_of(c.program, instructions));
  out.most =
      out.total + std::llround(waits(memory_for(c, "code"), code) +
                               waits(memory_for(c, "constants"), std::accumulate(reads.begin(), reads.end(), 0.0)));
  return out;
}

}  // namespace

double full_clock_hz(const Compiled& c) {
  const std::string hz = c.board ? c.board->field("clock.full_hz") : "";
  return hz.empty() ? 0 : std::strtod(hz.c_str(), nullptr);
}

const CycleEstimate& estimated_cycles(const Compiled& c) {
  if (c.cycles == nullptr) c.cycles = std::make_shared<const CycleEstimate>(estimate(c));
  return *c.cycles;
}

InstructionEstimate estimated_instructions(const Compiled& c) {
  InstructionEstimate out{plan::estimated_instructions_of_calls(c.program, c.plan_options.target)};
  if (known(out.calls)) out.total = plan::total_of(c.program, out.calls);
  multiply(out.calls, c.program);
  return out;
}

std::string per_iteration_text(const Compiled& c) {
  return plan::executions_of(c.program).known ? "" : " per iteration";
}

std::string cycle_assumption(const Compiled& c) {
  return fmt::format("of {}, no wait states", c.plan_options.target.name);
}

std::string milliseconds_text(const Compiled& c, const CycleEstimate& estimate) {
  const double hz = full_clock_hz(c);
  if (hz <= 0 || estimate.total == 0) return "";
  const double least = 1e3 * static_cast<double>(estimate.total) / hz;
  const std::string clock = fmt::format("{:g} MHz", hz / 1e6);
  const std::string what = "ms" + per_iteration_text(c);
  if (estimate.most == 0) return fmt::format("{:.3g} {} at {}, or more", least, what, clock);
  return fmt::format("{:.3g} to {:.3g} {} at {}", least, 1e3 * static_cast<double>(estimate.most) / hz, what, clock);
}

}  // namespace aotc::driver
