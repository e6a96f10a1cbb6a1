// SPDX-License-Identifier: Apache-2.0
// The C around a model's state: its size, and the functions that put it back to where it begins. All of
// it is empty for a model without state.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

inline bool has_state(const plan::Program& program) { return program.state_bytes > 0; }

// PREFIX_STATE_SIZE and PREFIX_STATE_ALIGN.
std::string state_macros(const plan::Program& program, const std::string& prefix);

// PREFIX_init and PREFIX_reset, declared.
std::string state_prototypes(const plan::Program& program, const std::string& prefix);

// PREFIX_init and PREFIX_reset, for the file of the tables: projects compile that one once, and the one
// with the run function perhaps twice. `names` has the tables'.
std::string state_definitions(const plan::Program& program, const CodegenOptions& options,
                              const ModelFiles& names);

}  // namespace aotc::codegen
