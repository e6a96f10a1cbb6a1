// SPDX-License-Identifier: Apache-2.0
// Checks combinations of options and model properties that aotc does not support. Each check reports [option-conflict]
// with the conflicting options, located at the model or at the responsible file.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "driver/compilation.h"
#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::driver {

// The name of the first option that is set; null if none is.
const char* first_given(std::initializer_list<std::pair<bool, const char*>> options);

Failure conflicting(const std::string& file, const std::string& what, const std::string& help, Diagnostics& diags);

// Checks combinations of options.
Status check_options(const CompileOptions& options, Diagnostics& diags);
// Parses --constants-address: a 32-bit address other than 0, aligned like the tables. nullopt after reporting
// [option-conflict].
std::optional<uint32_t> parse_address(const CompileOptions& options, Diagnostics& diags);
// Checks that the tensors of devices other than the host are in writable memory of the caller.
Status check_device_pools(const CompileOptions& options, const plan::PlanOptions& plan_options, Diagnostics& diags);
// Checks the conditions for tables in program memory.
Status check_program_tables(const CompileOptions& options, Diagnostics& diags);
// Checks the conditions for models with state, branches or loops.
Status check_structure(const CompileOptions& options, const plan::Program& program, Diagnostics& diags);

}  // namespace aotc::driver
