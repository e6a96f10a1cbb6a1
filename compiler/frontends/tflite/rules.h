// SPDX-License-Identifier: Apache-2.0
// Import rules: each rule converts one TFLite operator to an operator of aotc. The rules are rows of tables, in one
// file of rules/ for each family of operators. No other code knows both the format and the operators.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/tflite/tflite_op.h"
#include "ops/operator.h"

namespace aotc::frontends::tflite {

using namespace ops;  // NOLINT: in this namespace only
namespace schema = tflite_schema;

// Sets op.attributes, and may reorder op.operands or drop constant operands that became attributes. The caller has set
// op.definition, operands, results and location. Reports errors with their location.
using Import = Status (*)(const TfliteOp& from, graph::Op& op, Diagnostics& diags);
// For operators that have no options in the file: attributes get their defaults.
Status import_defaults(const TfliteOp& from, graph::Op& op, Diagnostics& diags);

struct Rule {
  std::string_view name;  // TFLite's spelling: "CONV_2D", or the name of a custom operator
  std::string_view op;    // the operator of aotc
  Import import = import_defaults;
  bool custom = false;
  // Indices of operands that may be variable tensors: tensors that the operator changes and that keep their values
  // between runs. In the graph, the operand is the old value, and an additional result is the new value.
  // ops::Operator::kept declares states for which the file has no tensor.
  std::vector<size_t> states = {};
  // True if results may be variable tensors of the file. Such a result is a state of the operator.
  bool variable_results = false;
  // True if the operator has uint64 operands or results; in the graph they are i64.
  bool words = false;
  // For operators at which TFLite's reference implementation ends most runs: the number of runs of which one continues.
  // Behind such an operator, only operators with `cycles` may keep states.
  int64_t (*cycles)(const graph::Op& op) = nullptr;
  // True if the number of rows of result 0 depends on the data. The graph's operator then has an additional result with
  // the row count, unless operand 0 is constant (counted.cpp).
  bool counted = false;
  // True if this operand is a list of indices, and each row of the result depends on one row of it.
  bool (*by_rows)(const OpView& op, size_t operand) = nullptr;
  // True if TFLite's reference implementation copies or compares the stored values of this operand without regard to
  // scales. `operand`: its index in the file.
  bool (*is_stored)(const OpView& op, size_t operand) = nullptr;
};

// A function for Rule::is_stored: true for the operands in `indices`, whatever their types.
template <size_t... indices>
bool are_stored(const OpView&, size_t operand) {
  return ((operand == indices) || ...);
}

class RuleTable {
 public:
  // Adds a rule; if its name is already in the table, the first rule stays. A rule whose name is not a builtin operator
  // applies only to custom operators.
  void add(const Rule& rule);

  const Rule* find_builtin(int code) const;
  const Rule* find_custom(std::string_view name) const;
  // The rules that convert to operator `op` of aotc: builtin operators in the order of their codes, then custom
  // operators.
  std::vector<const Rule*> of(std::string_view op) const;
  // The result of Rule::cycles for an operator of the graph; nullopt if its rule has no such function.
  std::optional<int64_t> cycles(const graph::Op& op) const;

 private:
  std::map<int, Rule> builtins_;  // by code
  std::map<std::string, Rule, std::less<>> customs_;
};

// Every rule of this build.
const RuleTable& rules();

// The rules of each family of operators. The files in rules/ define these functions.
std::span<const Rule> convolution_rules();
std::span<const Rule> custom_rules();
std::span<const Rule> elementwise_rules();
std::span<const Rule> place_rules();
std::span<const Rule> recurrent_rules();
std::span<const Rule> row_rules();
std::span<const Rule> shape_rules();

}  // namespace aotc::frontends::tflite
