// SPDX-License-Identifier: Apache-2.0
// Long calls in parts: the turns of a function's longest loop, and where one turn is too long, of
// the longest loop in it. The one thing to know: the parts of a call do what the whole call does,
// access by access and in the same order, so every place in memory that is right for the call is
// right for them.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace aotc::plan {

// A loop whose turns are divided.
struct BandLevel {
  int64_t begin = 0, end = 0, step = 1;  // of the loop
  int64_t turns = 1;                     // of one part
  int64_t trips() const { return (end - begin + step - 1) / step; }
  int64_t parts() const { return (trips() + turns - 1) / turns; }
};

struct CallBands {
  std::vector<BandLevel> levels;  // outermost first, as many as the function has; whole: one part each
  int64_t instructions = 0;       // of the longest part, at most
  int64_t parts() const;
};

struct Bands {
  // By function: with the loop's bounds as scalars from0, to0; with two loops also from1, to1, and
  // whether it is the first and the last of all parts. Null: called as a whole.
  std::vector<tir::FunctionPtr> functions;
  std::vector<CallBands> calls;  // by call of the program
  bool has(const ProgramCall& call) const {
    return !functions.empty() && functions[static_cast<size_t>(call.function)] != nullptr;
  }
};

// Parts of at most `limit` instructions each, or as short as can be. Reports [slice-unknown] for
// functions given in C.
Result<Bands> plan_bands(const Program& program, const ops::TargetInfo& target, int64_t limit, Diagnostics& diags);

// Reports [slice-too-short], with the smallest limit that can be had, if a part is longer than
// that.
Status check_bands(const Program& program, const Bands& bands, int64_t limit, Diagnostics& diags);

}  // namespace aotc::plan
