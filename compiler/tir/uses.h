// SPDX-License-Identifier: Apache-2.0
// What a function has to do with its buffers. The one thing to know: a load whose value nobody wants is a
// use as well.
#pragma once

#include <unordered_set>

#include "tir/tir.h"

namespace aotc::tir {

// Buffers that are read, written, or given to a kernel, and variables that occur.
std::unordered_set<const void*> used_in(const Function& function);

}  // namespace aotc::tir
