// SPDX-License-Identifier: Apache-2.0
// The operators that the user brings as C sources: what aotc-analyze finds in them, and whether a
// function is what a node of the graph calls. The rules are in docs/graph-operators.md.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/calling_convention.h"
#include "support/diagnostics.h"
#include "support/dtype.h"
#include "support/result.h"

namespace aotc::driver {

struct OperatorParameter {
  std::string name;     // "" if it has none
  std::string type;     // as written: "const int8_t *"
  std::string element;  // of a pointer: "int8_t", "float", "bool", "void"; "" if it is no tensor
  bool is_const = false;
};

struct OperatorFunction {
  std::string name;
  Location where;  // file, line, column
  std::optional<CallingConvention> convention;  // nothing: none that a graph can call
  std::string why;      // there is none: "returns 'void', not int32_t"
  std::string linkage;  // "external", "static", "c++"
  bool definition = false;
  std::string returns;
  std::vector<OperatorParameter> parameters;
};

class OperatorSources {
 public:
  // All functions of that name: several if it is static, or defined twice.
  std::vector<const OperatorFunction*> find(const std::string& symbol) const;
  // Names of the functions that could be operators: external and defined.
  std::vector<std::string> names() const;
  const std::vector<OperatorFunction>& all() const { return functions_; }
  void add(OperatorFunction function);

 private:
  std::vector<OperatorFunction> functions_;
  std::multimap<std::string, size_t> index_;
};

// Runs aotc-analyze on `files`, in their order. The headers of the C runtime are always found.
// Reports what the sources are refused for at its line [operator-source], [file-read],
// [tool-missing]; warnings go to `diags` as well.
Result<OperatorSources> read_operator_sources(const std::vector<std::string>& files,
                                              const std::vector<std::string>& include_dirs,
                                              Diagnostics& diags);

// A tensor that a node passes, operands first, then results.
struct OperatorTensor {
  DType dtype = DType::kI8;
  bool written = false;  // a result
  std::string name;      // for messages; may be empty
};

struct CheckedOperator {
  const OperatorFunction* function = nullptr;
  // kPacked; kPlain if every operand is const, else kUnpacked.
  CallingConvention convention = CallingConvention::kPlain;
  // The function takes one void pointer more than there are tensors: the context of its device.
  // Packed functions always do, as resource_handle.
  bool takes_context = false;
};

// Whether `symbol` can be called with `tensors` by the node at `node`. Reports [operator-missing],
// [operator-ambiguous], [operator-signature] at the line of the source.
Result<CheckedOperator> check_operator(const OperatorSources& sources, const std::string& symbol,
                                       const std::vector<OperatorTensor>& tensors,
                                       const Location& node, Diagnostics& diags);

}  // namespace aotc::driver
