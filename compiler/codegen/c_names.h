// SPDX-License-Identifier: Apache-2.0
// What functions, tables and fields of a model are called in C. The one thing to know: every name is unique among all
// names that were made with the same `functions`, so several models can share a source.
#pragma once

#include "codegen/c_model.h"
#include "support/text.h"

namespace aotc::codegen {

// Everything of ModelFiles but the files.
ModelFiles name_model(const plan::Program& program, const CodegenOptions& options, UniqueNames& functions);

}  // namespace aotc::codegen
