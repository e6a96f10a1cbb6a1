// SPDX-License-Identifier: Apache-2.0
// schedule(): orders the instructions of a block and assigns their registers in one walk, by beam search. A state of
// the search is a set of issued instructions with the registers of live values. The key of a state is its cycles by the
// core's timing table, with a price for occupied registers if one is set, and then its distance from the order of the
// description, which keeps few values live.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "kernelgen/block.h"
#include "machine/timing.h"

namespace aotc::kernelgen {

struct Schedule {
  std::vector<size_t> order;   // indices of ops
  std::vector<int> registers;  // of each value
  double cycles = 0;           // of one pass, by the timing table
};

struct SearchOptions {
  std::array<Registers, kBanks> free = {};  // registers besides those of values with fixed registers
  size_t beam = 8;                          // states that are kept after each instruction
  double pressure = 0;                      // cycles by which an occupied register makes a state worse
  size_t window = 24;                       // instructions that may be issued before an earlier one
};

// nullopt if no state of the beam finds registers for all values.
std::optional<Schedule> schedule(const Block& block, const SearchOptions& options, machine::Isa isa,
                                 const machine::Timing& timing);

// Repeats the search, first with a price for registers, then with a wider beam, until it finds registers among `free`.
// Builds with assertions check the schedule.
std::optional<Schedule> find_schedule(const Block& block, std::array<Registers, kBanks> free, machine::Isa isa,
                                      const machine::Timing& timing);

// The text of a block that always finds registers; aborts otherwise. The unit tests print each kind of block.
std::vector<std::string> scheduled_assembly(const Block& block, std::array<Registers, kBanks> free, machine::Isa isa,
                                            const machine::Timing& timing);

// The instructions in order.
std::vector<std::string> print_assembly(const Block& block, const Schedule& schedule);

// An error of the schedule, or empty: each instruction must find its operands in the registers that the schedule says.
std::string check_schedule(const Block& block, const Schedule& schedule);

}  // namespace aotc::kernelgen
