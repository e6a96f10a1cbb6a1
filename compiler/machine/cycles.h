// SPDX-License-Identifier: Apache-2.0
// Cycles of a program that ran in an emulator: how often each instruction ran, times what it costs.
// The one thing to know: counts are exact, and costs are a core's documents' (machine/timing.h): no
// memory, cache or contention is in them.
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
  uint64_t count = 0, taken = 0;  // taken: the next one was not the one behind it
};

// What ran in one function that the counted one called, or in the counted one itself (callee 0).
struct Segment {
  uint32_t callee = 0;
  std::map<uint32_t, Execution> counts;  // by address
};

// What the emulator's plugin writes (driver/emulator/counts.c). Nothing if it is something else, or
// not all of it.
std::optional<std::vector<Segment>> parse_counts(const std::string& text);

// Of flash; controllers have 8 to 32.
inline constexpr uint32_t kLineBytes = 16;

struct CycleSum {
  uint64_t instructions = 0;
  double cycles = 0;
  double load = 0, store = 0, multiply = 0, branch = 0;  // of the cycles
  uint64_t lines = 0;                                    // of code, fetched: what waits where flash is slower than the core
  double modelled = 0;                                   // cycles by somebody else's model of the core

  void add(const InstructionCost& cost, const Execution& executed);
  CycleSum& operator+=(const CycleSum& o);
};

struct CycleRow {
  std::string name;                 // of the function; of a layer's, what was called
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
  std::vector<CycleRow> functions;  // the most cycles first
  std::vector<std::optional<CycleRow>>
      calls;                   // of the model's, in its order; nothing for one that was inlined
  std::vector<LoopRow> loops;  // innermost ones, the most cycles first
  bool modelled = false;       // there is a model of the core
  uint64_t unknown = 0;        // instructions that were not disassembled: a cycle each
};

// What runs from its first instruction to its last.
struct Block {
  uint32_t begin = 0, end = 0;  // end: behind the last instruction
  int instructions = 0;
  bool loop = false;  // it follows itself
};
std::vector<Block> blocks_of(const Elf& elf, const Listing& listing, const std::vector<Segment>& segments);

// Somebody else's cycles: of each instruction its part of its block's.
struct CoreModel {
  std::string name;    // of the core it is of; empty: there is none
  std::string reason;  // why there is none
  std::map<uint32_t, double> cycles;
};

CycleReport cycles_of(const Elf& elf, const Listing& listing, const std::vector<Segment>& segments,
                      const Timing& timing, const ModelFunctions& model, const CoreModel& core = {});

std::string cycles_text(const Elf& elf, const CycleReport& report, size_t most_rows);
// Fields of the report; who ran it adds the rest.
nlohmann::ordered_json cycles_json(const Elf& elf, const CycleReport& report);

}  // namespace aotc::machine
