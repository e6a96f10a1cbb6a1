// SPDX-License-Identifier: Apache-2.0
// Prints one TIR function as C99. Only this file and c_model.cpp contain C text; the printed code means the same with
// 16-bit, 32-bit and 64-bit int.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/calling_convention.h"
#include "tir/tir.h"

namespace aotc::codegen {

// The helper functions and headers that printed code uses; the model file defines them as static inline.
struct SupportUse {
  std::set<std::string> functions;                // "min_i32", "float_bits"
  bool math = false;                              // <math.h>
  bool string = false;                            // <string.h>
  bool floating = false;                          // floating-point arithmetic
  bool comparing = false;                         // comparisons of floating-point values
  bool program = false;                           // tables in program memory: <avr/pgmspace.h>
  std::map<std::string, tir::KernelPtr> kernels;  // by name_of()
  void merge(const SupportUse& other);
};

struct PrintedFunction {
  std::string prototype;  // "int32_t name(const int8_t *in, ...)", without ';'
  std::string text;       // the definition
  struct Parameter {
    std::string type;  // "const int8_t *"
    std::string name;
  };
  std::vector<Parameter> parameters;
  SupportUse use;
};

// `name` is the C name; support functions are called PREFIX_min_i32 and so on. Names of variables are made legal and
// unique per scope. `form`: kPlain or kPacked, which needs the headers of `packed_includes`. `parameters` of a packed
// function are the pointers that it extracts from its arguments, in order; a parameter for which `bound` names a table
// is that table, not an argument. `traced_call`: the call whose results it traces. `narrow`: for CPUs with 16-bit int,
// values known to fit are computed in int.
PrintedFunction print_c(const tir::Function& function, const std::string& name, const std::string& prefix,
                        CallingConvention form = CallingConvention::kPlain, const std::vector<std::string>& bound = {},
                        bool narrow = false, int traced_call = -1);

// The "#include <...>" lines for packed functions.
std::string packed_includes();

// Prints the portable C of a kernel: a void function PREFIX_<kernel name> whose body is the TIR function
// `kernel.meaning`. Its parameters are the buffers of that function, then its scalars.
PrintedFunction print_c_kernel(const tir::Kernel& kernel, const std::string& prefix);

// A float or double literal that reads back as the same value ("0.1f", "INFINITY").
std::string c_float(double value, DType type);

}  // namespace aotc::codegen
