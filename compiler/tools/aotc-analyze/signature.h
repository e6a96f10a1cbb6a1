// SPDX-License-Identifier: Apache-2.0
// Findings: the functions of C and C++ sources and the compiler's messages. This file uses no type of Clang; only
// clang_reader.cpp does.
#pragma once

#include <string>
#include <vector>

#include "support/calling_convention.h"

namespace aotc::analyze {

struct Parameter {
  std::string name;        // "" if it has none
  std::string type;        // as written, arrays as pointers: "const int8_t *"
  std::string declarator;  // the type with the name: "const int8_t *a"
  std::string pointee;     // of a pointer, as written, without const: "int8_t", "TVMValue"
  std::string element;     // "int8_t" ... "uint64_t", "float", "double", "bool", "void"; "" for others
  std::string canonical;   // the whole type without typedefs, for comparing
  bool pointer = false;
  bool is_const = false;     // the pointee
  bool is_volatile = false;  // the pointee
  bool is_int = false;       // an int (int32_t) by value
  bool is_value = false;     // the pointee is TVM's TVMValue
};

enum class Linkage {
  kExternal,
  kStatic,
  kMangled,  // C++ linkage: the symbol is not the name
};

struct Function {
  std::string name;
  std::string unit;  // the source file that was compiled
  std::string file;  // the file of the function; one that `unit` includes, if not `unit` itself
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
  std::optional<CallingConvention> convention;  // nullopt: a graph cannot call it
  std::string why;                              // why there is no convention
};

enum class Severity { kError, kWarning, kNote };

struct SourceMessage {
  std::string file;
  int line = 0;  // 1-based; 0: the whole file
  int column = 0;
  Severity severity = Severity::kError;
  std::string slug;  // listed in docs/errors.md; "" for notes, which belong to the message before them
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

}  // namespace aotc::analyze
