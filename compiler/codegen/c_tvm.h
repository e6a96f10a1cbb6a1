// SPDX-License-Identifier: Apache-2.0
// TVM's C interface around a model: the files tvmgen_NAME.h and tvmgen_NAME.c, whose types, macros and
// entry point are those that TVM's ahead-of-time executor generates, so that applications written for
// it build unchanged. The one thing to know: they stand on PREFIX.h and need inputs and outputs that
// are the caller's.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

// As TVM makes names of models: letters, digits and '_', in lower case.
std::string tvm_model_name(const std::string& name);

// Adds the two files to `files`, which print_model has filled.
void print_tvm_interface(const plan::Program& program, const CodegenOptions& options,
                         ModelFiles& files);

}  // namespace aotc::codegen
