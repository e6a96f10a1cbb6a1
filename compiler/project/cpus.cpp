// SPDX-License-Identifier: Apache-2.0
#include "project/cpus.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cores/cpu.h"
#include "support/text.h"

namespace aotc::project {

namespace {

std::string name_of(const Board& board) {
  return board.cpu + (board.cpu.starts_with("cortex-m") && board.has("fpu") ? "f" : "");
}

Board without_memories(Board board) {
  board.name = name_of(board);
  board.title = board.name;
  board.memories.clear();
  board.stack_bytes = 0;
  board.emulator_program.clear();
  board.emulator_argv.clear();
  return board;
}

// `like`: the CPU of boards that `core` names.
Cpu without_board(const cores::CpuWithoutBoard& core, const Cpu& like) {
  Cpu out{"", like.board, {}};
  Board& b = out.board;
  b.cpu = core.cpu;
  b.isa = core.isa;
  if (!core.features.empty()) b.features = core.features;
  if (!core.flags.empty()) b.cflags = core.flags;
  out.name = b.name = b.title = name_of(b);
  nlohmann::json description = *like.board.description;
  description["cpu"] = b.cpu;
  description["isa"] = b.isa;
  description["features"] = b.features;
  description["toolchain"]["cflags"] = b.cflags;
  b.description = std::make_shared<const nlohmann::json>(std::move(description));
  return out;
}

void add_cpus_without_boards(std::vector<Cpu>& to) {
  const auto find = [&](const std::string& cpu) {
    return std::find_if(to.begin(), to.end(), [&](const Cpu& c) { return c.board.cpu == cpu; });
  };
  for (const cores::CpuWithoutBoard& core : cores::cpus_without_boards())
    if (const auto like = find(core.like); like != to.end() && find(core.cpu) == to.end())
      to.push_back(without_board(core, *like));
}

}  // namespace

Result<std::vector<Cpu>> cpus(Diagnostics& diags) {
  std::vector<Cpu> out;
  for (const std::string& name : board_names()) {
    auto board = find_board(name, diags);
    if (!board) return kFailure;
    const std::string cpu = name_of(*board);
    auto known = std::find_if(out.begin(), out.end(), [&](const Cpu& c) { return c.name == cpu; });
    if (known == out.end()) known = out.insert(out.end(), {cpu, without_memories(*board), {}});
    known->boards.push_back(name);
    // What only some boards' cores have is not promised: double precision.
    std::erase_if(known->board.features, [&](const std::string& f) { return !board->has(f); });
  }
  add_cpus_without_boards(out);
  std::sort(out.begin(), out.end(), [](const Cpu& a, const Cpu& b) { return a.name < b.name; });
  return out;
}

Result<Board> find_cpu(const std::string& name, Diagnostics& diags) {
  auto all = cpus(diags);
  if (!all) return kFailure;
  std::vector<std::string> names;
  for (const Cpu& c : *all) {
    if (c.name == name || c.board.cpu == name) return c.board;
    names.push_back(c.name);
  }
  Location where;
  where.file = "--cpu " + name;
  auto& d = diags.error(where, "cpu-unknown", "this CPU is not known");
  const std::string nearest = cores::nearest_cpu(name);
  auto ours = std::find_if(all->begin(), all->end(), [&](const Cpu& c) { return c.board.cpu == nearest; });
  if (ours != all->end()) d.help("use '" + ours->name + "', the nearest known CPU: its code also runs on your CPU");
  else
    for (const std::string& near : closest(name, names)) d.help("did you mean '" + near + "'?");
  d.help("'aotc cpus' lists the CPUs; for any other CPU, omit --cpu to get portable C");
  return kFailure;
}

std::vector<std::string> cpu_names() {
  Diagnostics ours_are_right;
  std::vector<std::string> out;
  if (auto all = cpus(ours_are_right))
    for (const Cpu& c : *all) out.push_back(c.name);
  return out;
}

}  // namespace aotc::project
