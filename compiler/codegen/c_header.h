// SPDX-License-Identifier: Apache-2.0
// Prints NAME.h of a model: sizes, offsets, structs and prototypes. All its names begin with the model's prefix, even
// if several models share a source.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

// The first comment of a file. `what`: a sentence about the file; `model`: the model's name.
std::string banner(const std::string& what, const std::string& model, const CodegenOptions& options);

// The whole file. `names` contains the struct fields of inputs and outputs; `kernels` is the result of kernel_macros().
std::string model_header(const plan::Program& program, const CodegenOptions& options, const ModelFiles& names,
                         const std::string& kernels = "");

}  // namespace aotc::codegen
