// SPDX-License-Identifier: Apache-2.0
// Makes one function of several that differ only in numbers (sizes, strides, offsets): the numbers
// become entries of a constant table that the merged function reads on entry. Saves flash where a
// network repeats a layer in many sizes, for a few instructions per call and fewer folded constants.
#pragma once

#include <string>
#include <vector>

#include "tir/tir.h"

namespace aotc::plan {

// A function with its i32 immediates taken out. Functions with equal skeletons can be merged.
struct Skeleton {
  std::string text;             // structure: everything but the immediates
  std::vector<int64_t> values;  // the immediates, in order of appearance
};
Skeleton skeleton_of(const tir::Function& function);

struct Merged {
  // Parameters of the originals (with the largest element counts), then constant `shape`
  // if numbers differ and not only those counts.
  tir::FunctionPtr function;
  std::vector<std::vector<int32_t>> shapes;  // per original: its table
};

// `functions` have equal skeletons and are not all equal.
Merged merge_functions(const std::vector<tir::FunctionPtr>& functions);

// The same function with other element counts of its parameters, for interpreting one call of a
// merged function with exact bounds.
tir::FunctionPtr with_parameter_sizes(const tir::Function& function, const std::vector<int64_t>& elements);

// The same function with outputs in the place of scratch: what a part of it leaves there is there for the next.
tir::FunctionPtr with_kept_scratch(const tir::Function& function);

// The same function with its parameters in other memories.
tir::FunctionPtr with_parameter_spaces(const tir::Function& function, const std::vector<tir::Space>& spaces);

}  // namespace aotc::plan
