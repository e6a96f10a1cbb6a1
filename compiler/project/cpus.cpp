// SPDX-License-Identifier: Apache-2.0
#include "project/cpus.h"

#include <algorithm>

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
  auto& d = diags.error(where, "cpu-unknown", "no board has this CPU");
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
