// SPDX-License-Identifier: Apache-2.0
// Plans a program for --slice: splits its calls into parts of bounded length, and computes the length of the longest
// part. The emitted code is printed from this plan, for NAME_run too.
#pragma once

#include <optional>

#include "driver/compilation.h"

namespace aotc::driver {

// The maximal instructions of a slice; 0: whole calls.
int64_t slice_limit(const CompileOptions& options);

// Checks the options that --slice excludes. Reports [option-conflict].
Status check_slices(const CompileOptions& options, Diagnostics& diags);

// `bands`: the parts of each call, only for slices of bounded length. `instructions`: by call, the number of
// instructions of its longest slice. Operators with parts that are too long are planned again with smaller schedules.
// Reports the errors of plan_program and plan::plan_bands, and [slice-too-short].
struct SlicedPlan {
  plan::Program program;
  plan::Bands bands;
  std::vector<int64_t> instructions;
  int64_t more_arena = 0;  // additional bytes due to slices
};
Result<SlicedPlan> plan_in_slices(graph::Graph graph, const CompileOptions& options, plan::PlanOptions& plan_options,
                                  Diagnostics& diags);

// The call with the longest slice; nullopt if unknown.
struct LongestSlice {
  size_t call = 0;
  int64_t instructions = 0;
};
std::optional<LongestSlice> longest_slice_of(const Compiled& compiled);

// The row for which NAME_feed takes longest, with all its slices. nullopt if the model takes no rows or the
// instructions are unknown.
struct LongestFeed {
  int64_t row = 0;
  int64_t instructions = 0;
};
std::optional<LongestFeed> longest_feed_of(const Compiled& compiled);

// Checks the options that --input rows excludes. Reports [option-conflict].
Status check_feed(const CompileOptions& options, Diagnostics& diags);

}  // namespace aotc::driver
