// SPDX-License-Identifier: Apache-2.0
// Prints one function of TIR (the compiler's loop-level representation) as C99. The printed code computes the same
// results with 16-bit, 32-bit and 64-bit int.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/calling_convention.h"
#include "tir/tir.h"

namespace aotc::codegen {

// The helper functions, kernels and headers that printed code uses. The model's source defines the helper functions as
// static inline.
struct SupportUse {
  std::set<std::string> functions;                // "min_i32", "float_bits"
  bool math = false;                              // <math.h>
  bool string = false;                            // <string.h>
  bool floating = false;                          // floating-point arithmetic
  bool comparing = false;                         // comparisons of floating-point values
  bool program = false;                           // <avr/pgmspace.h>, for tables in program memory
  std::map<std::string, tir::KernelPtr> kernels;  // key: name_of(kernel)
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

// Prints `function` under the C name `name`. Helper functions are called PREFIX_min_i32 and so on. Names of variables
// become legal C names that are unique in their scope. `form`: kPlain or kPacked. A packed function needs the headers
// of `packed_includes`; its `parameters` are the pointers that it extracts from its arguments, in order. `bound`: for
// each parameter of a packed function, the name of the table that it always is; empty if callers pass an argument.
// `narrow`: for CPUs with 16-bit int, values known to fit are computed in int. `traced_call`: index of the call whose
// results the function reports to the trace hook; -1: none.
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
