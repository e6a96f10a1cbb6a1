// SPDX-License-Identifier: Apache-2.0
#include "driver/estimate.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cores/riscv/text_count.h"
#include "plan/constant_reads.h"
#include "plan/executions.h"
#include "plan/instructions.h"

namespace aotc::driver {

namespace {

// The text of a line of an asm statement, "lw a5,0(a0)\n" without what makes it a string; empty for C.
std::string_view asm_text(std::string_view line) {
  const size_t from = line.find('"'), to = line.rfind("\\n\"");
  const bool whole = from != std::string_view::npos && to != std::string_view::npos && from < to;
  return whole && line.find_first_not_of(' ') == from ? line.substr(from + 1, to - from - 1) : std::string_view();
}

int64_t instructions_of(const std::vector<std::string>& statement) {
  const std::vector<std::string> lines = cores::riscv::without_macros(statement);
  return std::count_if(lines.begin(), lines.end(), [](const std::string& line) { return line.back() != ':'; });
}

// What a compiler makes code of: instructions in asm statements, macros written out, and characters of C beside them.
struct SourceSize {
  int64_t instructions = 0, text = 0;
};

SourceSize source_size(const std::string& c) {
  SourceSize out;
  std::vector<std::string> statement;
  std::istringstream in(c);
  for (std::string line; std::getline(in, line);) {
    if (std::string_view text = asm_text(line); !text.empty()) {
      statement.emplace_back(text);
      continue;
    }
    out.instructions += instructions_of(statement);
    statement.clear();
    out.text += static_cast<int64_t>(line.size()) + 1;
  }
  return out;
}

// The size of all sources except for tables. `counts_instructions`: false takes assembly for text, too.
SourceSize source_size(const std::map<std::string, std::string>& files, bool counts_instructions) {
  SourceSize out;
  for (const auto& [name, content] : files) {
    if (!name.ends_with(".c") || name.ends_with("_data.c")) continue;
    const SourceSize one =
        counts_instructions ? source_size(content) : SourceSize{0, static_cast<int64_t>(content.size())};
    out.instructions += one.instructions;
    out.text += one.text;
  }
  return out;
}

}  // namespace

int64_t code_of_model(const std::map<std::string, std::string>& files) {
  // An instruction of assembly has about 3 bytes, and compilers make one byte of about six characters of commented C.
  const SourceSize size = source_size(files, true);
  return size.instructions * 3 + size.text / 6;
}

// Harness, libraries and start-up, and the model's own, mostly twice (once with the trace hook).
int64_t code_of_firmware(const std::map<std::string, std::string>& files, const project::Board& board) {
  // Kernels for RISC-V are macros, whose text is shorter than their code.
  const bool written_out = board.isa.starts_with("rv32");
  const SourceSize size = source_size(files, written_out);
  if (board.has("harvard")) return 8 * 1024 + size.text * 3 / 5;
  if (written_out) return 15 * 1024 + size.instructions * 5 / 2 + size.text / 3;
  // Compilers make a byte of some three of its text; long texts are long by their calls, which take less.
  return 12 * 1024 + std::min(size.text / 3, 24 * 1024 + size.text / 12);
}

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
