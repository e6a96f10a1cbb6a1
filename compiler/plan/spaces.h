// SPDX-License-Identifier: Apache-2.0
// Memories of Harvard machines: tables go to program memory, and every function that reads one is
// told so by the space of its parameter. The one thing to know: a function that some calls give a
// table and others a tensor becomes two, because the loads differ.
#pragma once

#include "plan/program.h"

namespace aotc::plan {

// For a program whose calls have their arguments. Reports [harvard-external] for functions that the
// user's sources define, and [harvard-tables] for tables that are out of reach.
Status move_tables_to_program(Program& program, const ops::TargetInfo& target, Diagnostics& diags);

// Reports [target-double] where a function computes in 64-bit floating point and the target has none.
Status check_numbers(const Program& program, const ops::TargetInfo& target, Diagnostics& diags);

}  // namespace aotc::plan
