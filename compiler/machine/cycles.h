// SPDX-License-Identifier: Apache-2.0
// Computes the cycles of a program that ran in an emulator: the number of executions of each instruction times its
// cost. Counts are exact; costs are those of the core's documents (machine/timing.h), without memory, cache or
// contention.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "machine/instruction.h"
#include "machine/size.h"
#include "machine/timing.h"

namespace aotc::machine {

struct Execution {
  uint64_t count = 0, taken = 0;  // taken: not followed by the next instruction in memory
};

// The executions in one function that the counted function called, or in the counted function itself (callee 0).
struct Segment {
  uint32_t callee = 0;
  std::map<uint32_t, Execution> counts;  // by address
};

// Parses the output of the emulator's plugin (driver/emulator/counts.c). nullopt if the text is invalid or incomplete.
std::optional<std::vector<Segment>> parse_counts(const std::string& text);

// Line size of flash; controllers have 8 to 32 bytes.
inline constexpr uint32_t kLineBytes = 16;

struct CycleSum {
  uint64_t instructions = 0;
  double cycles = 0;
  double load = 0, store = 0, multiply = 0, branch = 0;  // parts of the cycles
  uint64_t lines = 0;                                    // fetched lines of code, for wait states of flash
  double modelled = 0;                                   // cycles by an external model of the core

  void add(const InstructionCost& cost, const Execution& executed);
  CycleSum& operator+=(const CycleSum& o);
};

struct CycleRow {
  std::string name;                 // of the function; for a layer, the called function
  std::vector<std::string> layers;  // of the model
  CycleSum sum;
};

struct LoopRow {
  uint32_t begin = 0, end = 0;  // addresses of its first and last instruction
  uint64_t turns = 0;
  CycleSum sum;
};

struct CycleReport {
  CycleSum total;
  std::vector<CycleRow> functions;             // sorted by cycles, largest first
  std::vector<std::optional<CycleRow>> calls;  // of the model's calls, in order; nullopt for an inlined one
  std::vector<LoopRow> loops;                  // innermost loops, sorted by cycles, largest first
  bool modelled = false;                       // true if there is an external model of the core
  uint64_t unknown = 0;                        // instructions that were not disassembled: one cycle each
};

// A basic block, executed from its first instruction to its last.
struct Block {
  uint32_t begin = 0, end = 0;  // end: behind the last instruction
  int instructions = 0;
  bool loop = false;  // it is its own successor
};
std::vector<Block> blocks_of(const Elf& elf, const Listing& listing, const std::vector<Segment>& segments);

// Cycles by an external model: each instruction has its share of its block's cycles.
struct CoreModel {
  std::string name;    // name of the modelled core; empty: there is no model
  std::string reason;  // why there is no model
  std::map<uint32_t, double> cycles;
};

CycleReport cycles_of(const Elf& elf, const Listing& listing, const std::vector<Segment>& segments,
                      const Timing& timing, const ModelFunctions& model, const CoreModel& core = {});

std::string cycles_text(const Elf& elf, const CycleReport& report, size_t most_rows);
// Fields of the report; the caller adds the rest.
nlohmann::ordered_json cycles_json(const Elf& elf, const CycleReport& report);

}  // namespace aotc::machine
