// SPDX-License-Identifier: Apache-2.0
// Checks whether a model fits a board, chooses the memory of its arena, and searches for remedies if it does not fit.
// An arena is placed in the fastest memory that holds it; memory that needs setup is used only if the user names it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "driver/compilation.h"

namespace aotc::driver {

// The properties of a firmware that the user can choose.
struct Firmware {
  std::string arena;         // name of the arena's memory; empty: the best one
  int64_t stack = -1;        // -1: the board's default
  int64_t samples = 0;       // bytes of stored inputs, in flash
  bool keeps_input = false;  // stores the whole input of a model that takes it by rows
  std::string framework;     // framework of the project kind; empty: none or unknown
};

// Bytes of a firmware around a model.
struct Need {
  int64_t tensors = 0;  // arena or workspace
  int64_t arena = 0;    // part of `tensors` outside pools that are named like a memory
  int64_t caller = 0;   // inputs, outputs and state outside the arena; on AVR also tables in RAM
  int64_t stack = 0;    // bytes reserved for the stack
  int64_t harness = 0;  // variables of the firmware around the model, approximate
  int64_t constants = 0;
  int64_t samples = 0;
  int64_t code = 0;       // code of the whole firmware, approximate
  std::string copied_to;  // memory to which the framework copies tables without a section
  // Bytes of tables by linker section, for sections that --constants-section names.
  std::vector<std::pair<std::string, int64_t>> sections;
  // Bytes of each pool that is named like a memory of the board.
  std::vector<std::pair<std::string, int64_t>> pools;
};
Need need_of(const Compiled& compiled, const project::Board& board, const Firmware& firmware = {});

struct Fit {
  bool ram = true, flash = true;
  const project::Memory* arena = nullptr;  // the chosen memory, or the one that is closest to fitting
  const project::Memory* constants = nullptr;
  int64_t ram_needed = 0, flash_needed = 0;  // bytes needed in `arena` and `constants`, including other contents
  bool both() const { return ram && flash; }
};
// `arena`: the memory that the user named, or empty. A board without memories fits everything.
Fit fit_of(const Need& need, const project::Board& board, const std::string& arena = "");

// The name of the memory for the arena; empty if the board has no memories.
std::string arena_memory(const Compiled& compiled, const Firmware& firmware = {});

// Reports [does-not-fit] with the remedies that work; aotc tries each one.
bool check_fit(const Compiled& compiled, Diagnostics& diags, const Firmware& firmware = {});

// Warns, but tries no remedies: C without a project may be for a firmware with other memories. `file`: the model's
// file.
void warn_of_fit(const Need& need, const project::Board& board, const std::string& file, Diagnostics& diags);

}  // namespace aotc::driver
