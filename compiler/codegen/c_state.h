// SPDX-License-Identifier: Apache-2.0
// Prints the C for a model's state: its size, and the functions that reset it. All texts are empty for a model without
// state.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

inline bool has_state(const plan::Program& program) { return program.state_bytes > 0; }

// PREFIX_STATE_SIZE and PREFIX_STATE_ALIGN.
std::string state_macros(const plan::Program& program, const std::string& prefix);

// The declarations of PREFIX_init and PREFIX_reset.
std::string state_prototypes(const plan::Program& program, const std::string& prefix);

// The definitions of PREFIX_init and PREFIX_reset, for PREFIX_data.c. A project compiles that file once, but may
// compile the file with the run function twice. `names` contains the names of the tables.
std::string state_definitions(const plan::Program& program, const CodegenOptions& options, const ModelFiles& names);

}  // namespace aotc::codegen
