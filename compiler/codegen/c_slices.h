// SPDX-License-Identifier: Apache-2.0
// Prints the interface that runs a model slice by slice, and numbers the slices. A slice is one call, or one evaluation
// of the condition of a branch or loop; a call of a loop over calls is one slice in each iteration. Its number is its
// position in `lay_out_slices`, counted from 1.
#pragma once

#include <string>
#include <vector>

#include "codegen/c_model.h"

namespace aotc::codegen {

struct Slice {
  int call = -1;            // index in the program; -1: a decision
  plan::Storage condition;  // of a decision
  int next = 0;             // the slice that follows; for a decision: if it is true
  int otherwise = 0;        // for a decision: if it is false
  bool decides() const { return call < 0; }
  // A loop over calls has slices for its first iteration only, and every iteration reuses them. The next iteration
  // starts at slice `again`.
  const plan::ProgramStep* repeat = nullptr;
  size_t number = 0;  // of the call in its iteration
  int again = 0;
};

// The tree as a list: slice n is element n - 1. `next` of a slice that ends the run is the number of slices plus one.
// With `loops`, repeats of calls have a slice for each call of one iteration, else for each call.
std::vector<Slice> lay_out_slices(const std::vector<plan::ProgramStep>& body, bool loops = false);

// True if a failure may have a status above 0, which the step functions use for other meanings.
bool may_fail_above_zero(const plan::Program& program, const CodegenOptions& options);

// NAME_MORE, NAME_DONE, NAME_SLICE_COUNT, ..., struct NAME_context, NAME_begin and NAME_step.
std::string slice_declarations(const plan::Program& program, const CodegenOptions& options);

// The members of struct NAME_context.
std::string context_members(const plan::Program& program, const CodegenOptions& options);

// "int32_t PREFIX_begin(struct PREFIX_context *context, ...)", without ';'.
std::string begin_prototype(const plan::Program& program, const std::string& prefix);

}  // namespace aotc::codegen
