// SPDX-License-Identifier: Apache-2.0
// Reads operators that the user supplies as C sources: finds their functions with aotc-analyze, and checks that a
// function matches the graph node that calls it. docs/graph-operators.md states the rules.
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
  std::string element;  // element type of a tensor pointer: "int8_t", "float", "bool", "void"; else ""
  bool is_const = false;
};

struct OperatorFunction {
  std::string name;
  Location where;                               // file, line, column
  std::optional<CallingConvention> convention;  // nullopt: a graph cannot call it
  std::string why;                              // reason if `convention` is nullopt: "returns 'void', not int32_t"
  std::string linkage;                          // "external", "static", "c++"
  bool definition = false;
  std::string returns;
  std::vector<OperatorParameter> parameters;
};

class OperatorSources {
 public:
  // All functions of that name; several if static functions share it or it is defined twice.
  std::vector<const OperatorFunction*> find(const std::string& symbol) const;
  // Names of the functions that can be operators: external and defined.
  std::vector<std::string> names() const;
  const std::vector<OperatorFunction>& all() const { return functions_; }
  void add(OperatorFunction function);

 private:
  std::vector<OperatorFunction> functions_;
  std::multimap<std::string, size_t> index_;
};

// Runs aotc-analyze on `files`, in their order. The headers of the C runtime are always found. Reports
// [operator-source] at the line of an invalid source, [file-read], [tool-missing]; also adds warnings to `diags`.
Result<OperatorSources> read_operator_sources(const std::vector<std::string>& files,
                                              const std::vector<std::string>& include_dirs, Diagnostics& diags);

// A tensor that a node passes; operands come first, then results.
struct OperatorTensor {
  DType dtype = DType::kI8;
  bool written = false;  // true for a result
  std::string name;      // for messages; may be empty
};

struct CheckedOperator {
  const OperatorFunction* function = nullptr;
  // kPacked for packed functions. Otherwise kPlain if every operand is const, else kUnpacked.
  CallingConvention convention = CallingConvention::kPlain;
  // True if the function takes the context of its device, as one void pointer after the tensors. Packed functions
  // always receive it, as resource_handle.
  bool takes_context = false;
};

// Checks that the node at `node` can call `symbol` with `tensors`. Reports [operator-missing], [operator-ambiguous],
// [operator-signature] at the line of the source.
Result<CheckedOperator> check_operator(const OperatorSources& sources, const std::string& symbol,
                                       const std::vector<OperatorTensor>& tensors, const Location& node,
                                       Diagnostics& diags);

}  // namespace aotc::driver
