// SPDX-License-Identifier: Apache-2.0
// Whether a program keeps the promises that its printers and runners rely on: calls agree with their functions, and
// everything lies in memory that there is. The one thing to know: that no call destroys what a later one reads is
// not decided here; running the program beside the graph shows it.
#pragma once

#include <vector>

#include "plan/bands.h"
#include "plan/program.h"

namespace aotc::plan {

// `calls` say where calls stand, if that is known; `bands` belong to a program in slices. Reports
// [program-invalid], and [tir-invalid] for a function.
Status verify(const Program& program, Diagnostics& diags, const Bands* bands = nullptr,
              const std::vector<Location>* calls = nullptr);

}  // namespace aotc::plan
