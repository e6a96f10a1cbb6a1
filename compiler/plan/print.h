// SPDX-License-Identifier: Apache-2.0
// A program as text, for people and tests: what runs when, on which memory. The one thing to know: it
// does not read back; the operators' functions have a text form that does (tir::print).
#pragma once

#include <string>

#include "plan/program.h"

namespace aotc::plan {

// The tree of calls, each with its function, its arguments ("arena + 8", "state + 0", "input x", "table 3")
// and what it computes.
std::string print(const Program& program);

// The functions, in the text form of TIR.
std::string print_functions(const Program& program);

}  // namespace aotc::plan
