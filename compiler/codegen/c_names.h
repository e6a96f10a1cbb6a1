// SPDX-License-Identifier: Apache-2.0
// Chooses the C names of functions, tables and fields of a model. Every name is unique among all names made with the
// same `functions`, so several models can share a source.
#pragma once

#include "codegen/c_model.h"
#include "support/text.h"

namespace aotc::codegen {

// Sets the names of ModelFiles, and is_row, printed_calls and loop_table_bytes.
ModelFiles name_model(const plan::Program& program, const CodegenOptions& options, UniqueNames& functions);

}  // namespace aotc::codegen
