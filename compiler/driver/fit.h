// SPDX-License-Identifier: Apache-2.0
// Does a model fit a board, where does its arena go, and what to try when it does not. The one thing
// to know: an arena goes into the fastest memory that holds it; memory that works only after some
// setting up is used only by name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "driver/compilation.h"

namespace aotc::driver {

// What a project puts around a model, as far as its user chooses it.
struct Firmware {
  std::string arena;        // memory for the arena, by name; empty: the best one
  int64_t stack = -1;       // -1: what the board reserves
  int64_t samples = 0;      // bytes of stored inputs, in flash
  bool keeps_input = false;  // the whole of an input that the model takes by rows
  std::string framework;    // of the kind of project; empty: none, or not known
};

// Bytes of a firmware around a model.
struct Need {
  int64_t tensors = 0;    // arena or workspace
  int64_t arena = 0;      // of them, what the board's choice of memory is for: without named pools
  int64_t caller = 0;     // inputs and outputs outside of the arena
  int64_t stack = 0;      // reserved
  int64_t harness = 0;    // variables of the firmware around the model, about
  int64_t constants = 0;
  int64_t samples = 0;
  int64_t code = 0;       // of all the firmware, about
  std::string copied_to;  // memory that the framework copies tables to, but those with a section
  // Tables by their linker section, for those that --constants-section names.
  std::vector<std::pair<std::string, int64_t>> sections;
  // Of several pools, those that are called like a memory of the board.
  std::vector<std::pair<std::string, int64_t>> pools;
};
Need need_of(const Compiled& compiled, const project::Board& board, const Firmware& firmware = {});

struct Fit {
  bool ram = true, flash = true;
  const project::Memory* arena = nullptr;      // the one chosen, or that comes nearest
  const project::Memory* constants = nullptr;
  int64_t ram_needed = 0, flash_needed = 0;    // in these memories, with what else lies there
  bool both() const { return ram && flash; }
};
// `arena`: the memory that the user named, or empty. A board without memories fits everything.
Fit fit_of(const Need& need, const project::Board& board, const std::string& arena = "");

// The memory for the arena, by name; empty if the board has no memories.
std::string arena_memory(const Compiled& compiled, const Firmware& firmware = {});

// Reports [does-not-fit] with what makes it fit: each remedy was tried.
bool check_fit(const Compiled& compiled, Diagnostics& diags, const Firmware& firmware = {});

// A warning that tries no remedies: C alone may be for a firmware that has other memories. `file`: of the model.
void warn_of_fit(const Need& need, const project::Board& board, const std::string& file, Diagnostics& diags);

}  // namespace aotc::driver
