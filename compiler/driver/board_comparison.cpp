// SPDX-License-Identifier: Apache-2.0
#include "driver/report.h"

#include <cmath>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "driver/estimate.h"
#include "driver/fit.h"
#include "project/cpus.h"

namespace aotc::driver {

namespace {

Result<Compiled> compiled_for(const CompileOptions& options, const std::string& cpu) {
  CompileOptions here = options;
  here.board_name.clear();
  here.cpu_name = cpu;
  here.dump_after.clear();
  here.time_passes = false;
  Diagnostics ignored;  // the caller has compiled the model: another core may at most refuse
  return compile_model(here, ignored);
}

nlohmann::ordered_json row_of(const Compiled& c, const project::Board& board) {
  const Figures figures = figures_of(c);
  const Fit fit = fit_of(need_of(c, board), board);
  nlohmann::ordered_json j = {{"board", board.name},
                              {"cpu", c.options.cpu_name},
                              {"fits", fit.both()},
                              {"arena_bytes", figures.arena_bytes},
                              {"constants_bytes", figures.constant_bytes},
                              {"ram_needed", fit.ram_needed},
                              {"flash_needed", fit.flash_needed}};
  if (const int64_t instructions = estimated_instructions(c).total; instructions > 0)
    j["estimated_instructions"] = instructions;
  const int64_t cycles = estimated_cycles(c).total;
  if (cycles == 0) return j;
  j["estimated_cycles"] = cycles;
  const std::string hz = board.field("clock.full_hz");
  if (const double full = hz.empty() ? 0 : std::strtod(hz.c_str(), nullptr); full > 0)
    j["milliseconds"] = std::round(1e5 * static_cast<double>(cycles) / full) / 100;
  return j;
}

}  // namespace

nlohmann::ordered_json boards_json(const CompileOptions& options) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  Diagnostics ignored;
  auto all = project::cpus(ignored);
  if (!all) return out;
  for (const project::Cpu& cpu : *all) {
    if (cpu.boards.empty() || cpu.board.is_host() || cpu.board.isa == "generic") continue;
    auto compiled = compiled_for(options, cpu.name);
    if (!compiled) continue;
    for (const std::string& name : cpu.boards) {
      auto board = project::find_board(name, ignored);
      if (!board) continue;
      out.push_back(row_of(*compiled, *board));
      if (name == options.board_name) out.back()["chosen"] = true;
    }
  }
  return out;
}

}  // namespace aotc::driver
