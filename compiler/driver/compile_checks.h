// SPDX-License-Identifier: Apache-2.0
// What is asked for at once and cannot be had at once. The one thing to know: each check tells what stands in
// the way of what as [option-conflict], located at the model or at the file that is at fault.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "driver/compilation.h"
#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::driver {

// The name of the first that is given; null if none is.
const char* first_given(std::initializer_list<std::pair<bool, const char*>> options);

Failure conflicting(const std::string& file, const std::string& what, const std::string& help,
                    Diagnostics& diags);

// Options that cannot go together.
Status check_options(const CompileOptions& options, Diagnostics& diags);
// --constants-address: 32 bits, aligned as tables are, not 0. Reports [option-conflict].
std::optional<uint32_t> parse_address(const CompileOptions& options, Diagnostics& diags);
// Tensors of devices are written, and lie in memory that the caller gives.
Status check_device_pools(const CompileOptions& options, const plan::PlanOptions& plan_options,
                          Diagnostics& diags);
// What cannot have its tables in program memory.
Status check_program_tables(const CompileOptions& options, Diagnostics& diags);
// What models with state, branches or loops cannot have yet.
Status check_structure(const CompileOptions& options, const plan::Program& program, Diagnostics& diags);

}  // namespace aotc::driver
