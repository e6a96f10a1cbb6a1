// SPDX-License-Identifier: Apache-2.0
// Findings: the functions of C and C++ sources and the compiler's messages. This file uses no types of Clang, so other
// files do not depend on Clang.
#pragma once

#include <string>
#include <vector>

#include "support/calling_convention.h"

namespace aotc::analyze {

struct Parameter {
  std::string name;        // "" if it has none
  std::string type;        // as in the source, but arrays as pointers: "const int8_t *"
  std::string declarator;  // the type with the name: "const int8_t *a"
  std::string pointee;     // type to which a pointer points, as in the source without const: "int8_t", "TVMValue"
  std::string element;     // pointee as "int8_t" ... "uint64_t", "float", "double", "bool" or "void"; "" for others
  std::string canonical;   // the whole type with typedefs resolved, for comparisons
  bool pointer = false;
  bool is_const = false;     // the pointee
  bool is_volatile = false;  // the pointee
  bool is_int = false;       // an int (int32_t) by value
  bool is_value = false;     // the pointee is TVM's TVMValue
};

enum class Linkage {
  kExternal,
  kStatic,
  kMangled,  // C++ linkage: the symbol differs from the name
};

struct Function {
  std::string name;
  std::string unit;  // the source file that was compiled
  std::string file;  // the file that contains the function: `unit` or a file that it includes
  int line = 0;      // 1-based
  int column = 0;    // 1-based
  Linkage linkage = Linkage::kExternal;
  bool definition = false;
  bool weak = false;
  bool prototype = true;
  bool variadic = false;
  std::string returns;
  std::string returns_canonical;
  bool returns_int = false;  // int or int32_t
  std::vector<Parameter> parameters;
  std::optional<CallingConvention> convention;  // nullopt: a graph cannot call the function
  std::string why;                              // if there is no convention: the reason
};

enum class Severity { kError, kWarning, kNote };

struct SourceMessage {
  std::string file;
  int line = 0;  // 1-based; 0: the whole file
  int column = 0;
  Severity severity = Severity::kError;
  std::string slug;  // identifier in docs/errors.md; "" for notes, which belong to the preceding message
  std::string message;
};

struct Findings {
  std::vector<Function> functions;
  std::vector<SourceMessage> messages;
  bool has_errors() const {
    for (const SourceMessage& m : messages)
      if (m.severity == Severity::kError) return true;
    return false;
  }
};

// Determines which calling convention of docs/graph-operators.md a function has. Sets `convention`, or `why` if it has
// none.
void classify(Function& function);

// Removes functions from the findings if another function of the same symbol replaces them. A definition in any source
// replaces a declaration, and a strong definition replaces a weak one. If there are only declarations, the first one
// stays. Two definitions of equal rank both stay, because the linker's choice is unknown. Warns [operator-declaration]
// if a declaration contradicts the definition. A static function is a symbol of its own source only.
void merge_symbols(Findings& findings);

// Returns "int32_t add(const int8_t *a, int8_t *out)".
std::string prototype_of(const Function& function);

}  // namespace aotc::analyze
