// SPDX-License-Identifier: Apache-2.0
// Finds the buffers and variables that a TIR function uses. A load whose value is unused counts as a use.
#pragma once

#include <unordered_set>

#include "tir/tir.h"

namespace aotc::tir {

// Returns pointers to the buffers that are read, written or passed to a kernel, and to the variables that occur.
std::unordered_set<const void*> used_in(const Function& function);

}  // namespace aotc::tir
