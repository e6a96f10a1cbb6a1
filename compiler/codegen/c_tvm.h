// SPDX-License-Identifier: Apache-2.0
// Prints TVM's C interface of a model: tvmgen_NAME.h and tvmgen_NAME.c, with the types, macros and entry point that
// TVM's ahead-of-time executor generates, so that applications for TVM build unchanged. They use PREFIX.h, and require
// that the caller provides the memory of inputs and outputs.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

// TVM's form of a model name: letters, digits and '_', in lower case.
std::string tvm_model_name(const std::string& name);

// Adds the two files to `files`, the result of print_model.
void print_tvm_interface(const plan::Program& program, const CodegenOptions& options, ModelFiles& files);

}  // namespace aotc::codegen
