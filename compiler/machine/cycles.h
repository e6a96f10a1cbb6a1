// SPDX-License-Identifier: Apache-2.0
// Computes the cycles of a program that ran in an emulator: the number of executions of each instruction times its
// cost. Counts are exact. Costs are from the core's documents (machine/timing.h) and include no delays by memory,
// caches or bus contention.
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
  uint64_t count = 0, taken = 0;  // taken: executions that the next instruction in memory did not follow
};

// A part of the executions below one counted function: those in one function that it called, or those in the function
// itself (callee 0).
struct Segment {
  uint32_t callee = 0;
  std::map<uint32_t, Execution> counts;  // by address
};

// Parses the output of aotc's plugin for the emulator (driver/emulator/counts.c). nullopt if the text is invalid or
// incomplete.
std::optional<std::vector<Segment>> parse_counts(const std::string& text);

// Assumed line size of flash memory; microcontrollers have lines of 8 to 32 bytes.
inline constexpr uint32_t kLineBytes = 16;

struct CycleSum {
  uint64_t instructions = 0;
  double cycles = 0;
  double load = 0, store = 0, multiply = 0, branch = 0;  // shares of `cycles` by kind of instruction
  uint64_t lines = 0;                                    // flash lines fetched for code; each may cost wait states
  double modelled = 0;                                   // cycles according to an external model (CoreModel)

  void add(const InstructionCost& cost, const Execution& executed);
  CycleSum& operator+=(const CycleSum& o);
};

struct CycleRow {
  std::string name;                 // of the function; in `calls`, of the called function
  std::vector<std::string> layers;  // of the model
  CycleSum sum;
};

struct LoopRow {
  uint32_t begin = 0, end = 0;  // addresses of the loop's first and last instruction
  uint64_t turns = 0;
  CycleSum sum;
};

struct CycleReport {
  CycleSum total;
  std::vector<CycleRow> functions;             // sorted by cycles, largest first
  std::vector<std::optional<CycleRow>> calls;  // the model's operator calls, in order; nullopt if inlined
  std::vector<LoopRow> loops;                  // innermost loops, sorted as the functions
  bool modelled = false;                       // true if there is an external model of the core
  uint64_t unknown = 0;                        // executed instructions that were not disassembled; one cycle each
};

// A basic block: instructions that are always executed together, in order.
struct Block {
  uint32_t begin = 0, end = 0;  // end: address behind the last instruction
  int instructions = 0;
  bool loop = false;  // true if the block is its own successor
};
std::vector<Block> blocks_of(const Listing& listing, const std::vector<Segment>& segments);

// Cycles according to an external model of the core, such as LLVM's: each instruction has a share of its block's
// cycles.
struct CoreModel {
  std::string name;    // name of the modelled core; empty: there is no model
  std::string reason;  // why there is no model
  std::map<uint32_t, double> cycles;
};

CycleReport cycles_of(const Elf& elf, const Listing& listing, const std::vector<Segment>& segments,
                      const Timing& timing, const ModelFunctions& model, const CoreModel& core = {});

std::string cycles_text(const Elf& elf, const CycleReport& report, size_t most_rows);
// Returns an object with the fields of the report; the caller adds its own fields.
nlohmann::ordered_json cycles_json(const Elf& elf, const CycleReport& report);

}  // namespace aotc::machine
