// SPDX-License-Identifier: Apache-2.0
// NAME.h of a model: sizes, places, structs and prototypes. The one thing to know: everything in it begins with
// the model's prefix, also where several models share a source.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

// The first comment of a file; `model` is what the models' files call it.
std::string banner(const std::string& what, const std::string& model, const CodegenOptions& options);

// The whole file. `names` has the fields of inputs and outputs, `kernels` is of kernel_macros().
std::string model_header(const plan::Program& program, const CodegenOptions& options, const ModelFiles& names,
                         const std::string& kernels = "");

}  // namespace aotc::codegen
