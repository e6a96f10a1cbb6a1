// SPDX-License-Identifier: Apache-2.0
// Selects index variables of kernels that the C has as pointers. clang computes the addresses of written-out steps from
// two indices with up to a third more instructions than from two pointers.
#pragma once

#include <unordered_map>

#include "tir/tir.h"

namespace aotc::codegen {

// The variables of loops that advance by several elements, and those that are assigned in such loops, with their
// buffers. Such a variable only addresses one buffer, which the function does not write, and is only increased.
std::unordered_map<const tir::Variable*, tir::BufferPtr> pointer_variables(const tir::Function& kernel);

// An index as a variable and what is added to it; null if no variable comes first. The sum is null if nothing is added.
struct BasedIndex {
  tir::VarPtr base;
  tir::ExprPtr sum;
};
BasedIndex based_index(const tir::ExprPtr& index);

}  // namespace aotc::codegen
