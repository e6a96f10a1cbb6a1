// SPDX-License-Identifier: Apache-2.0
// Prints the interface that runs a model slice by slice, and numbers the slices. A slice is one operator function call,
// or one evaluation of the condition of a branch or loop. A call in a loop over repeated calls is one slice in each
// iteration. The number of a slice is its position in the result of `lay_out_slices`, counted from 1.
#pragma once

#include <string>
#include <vector>

#include "codegen/c_model.h"

namespace aotc::codegen {

struct Slice {
  int call = -1;            // index in the program; -1: a decision, which evaluates a condition
  plan::Storage condition;  // only of a decision
  int next = 0;             // number of the next slice; for a decision: if the condition is true
  int otherwise = 0;        // for a decision: number of the next slice if the condition is false
  bool decides() const { return call < 0; }
  // The loop over repeated calls that contains the slice, or null. Such a loop has slices for its first iteration only,
  // and every iteration reuses them. The last slice of an iteration has the number of the first one in `again`.
  const plan::ProgramStep* repeat = nullptr;
  size_t number = 0;  // index of the call in its iteration
  int again = 0;
};

// Lists the slices of a tree of steps: slice n is element n - 1. A slice that ends the run has the number of slices
// plus one as `next`. With `loops`, a loop over repeated calls has a slice for each call of one iteration; without, for
// each call of all iterations.
std::vector<Slice> lay_out_slices(const std::vector<plan::ProgramStep>& body, bool loops = false);

// True if a failure may have a status above 0. The step functions return such values for other purposes.
bool may_fail_above_zero(const plan::Program& program, const CodegenOptions& options);

// NAME_MORE, NAME_DONE, NAME_SLICE_COUNT, ..., struct NAME_context, NAME_begin and NAME_step.
std::string slice_declarations(const plan::Program& program, const CodegenOptions& options);

// The members of struct NAME_context.
std::string context_members(const plan::Program& program, const CodegenOptions& options);

// "int32_t PREFIX_begin(struct PREFIX_context *context, ...)", without ';'.
std::string begin_prototype(const plan::Program& program, const std::string& prefix);

}  // namespace aotc::codegen
