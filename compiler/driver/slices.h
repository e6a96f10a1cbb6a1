// SPDX-License-Identifier: Apache-2.0
// --slice: a plan whose calls can be done in parts that are short enough, and how long the longest
// is. The one thing to know: a program that is planned here is the program that is emitted, also
// for NAME_run.
#pragma once

#include <optional>

#include "driver/compilation.h"

namespace aotc::driver {

// The most instructions of a slice; 0: as many as a call has.
int64_t slice_limit(const CompileOptions& options);

// What --slice cannot have beside it. Reports [option-conflict].
Status check_slices(const CompileOptions& options, Diagnostics& diags);

// A program, and for slices of a given length its bands; `instructions` are those of every call's
// longest slice. Operators whose parts are too long are planned again with smaller schedules.
// Reports what plan_program and plan::plan_bands do, and [slice-too-short].
struct SlicedPlan {
  plan::Program program;
  plan::Bands bands;
  std::vector<int64_t> instructions;
  int64_t more_arena = 0;  // than without slices
};
Result<SlicedPlan> plan_in_slices(graph::Graph graph, const CompileOptions& options,
                                  plan::PlanOptions& plan_options, Diagnostics& diags);

// The call with the longest slice; nothing if that is not known.
struct LongestSlice {
  size_t call = 0;
  int64_t instructions = 0;
};
std::optional<LongestSlice> longest_slice_of(const Compiled& compiled);

// The row whose NAME_feed takes longest, all slices together; nothing if no rows are fed or it is
// not known.
struct LongestFeed {
  int64_t row = 0;
  int64_t instructions = 0;
};
std::optional<LongestFeed> longest_feed_of(const Compiled& compiled);

// What --input rows cannot have beside it. Reports [option-conflict].
Status check_feed(const CompileOptions& options, Diagnostics& diags);

}  // namespace aotc::driver
