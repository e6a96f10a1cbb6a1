// SPDX-License-Identifier: Apache-2.0
// Finds the buffers and variables that a function uses. A load whose value is unused counts as a use.
#pragma once

#include <unordered_set>

#include "tir/tir.h"

namespace aotc::tir {

// Buffers that are read, written, or passed to a kernel, and variables that occur.
std::unordered_set<const void*> used_in(const Function& function);

}  // namespace aotc::tir
