// SPDX-License-Identifier: Apache-2.0
// Import rules: which operator of TFLite becomes which of aotc, and how; one row each, in a file of rules/ for each
// family. Only these rows know both the format and the operators.
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

// Fills op.attributes and may drop or reorder op.operands (constant operands that became
// attributes). op.definition, operands, results and location are set. Reports located errors.
using Import = Status (*)(const TfliteOp& from, graph::Op& op, Diagnostics& diags);
// The file has only operands and results: attributes get their defaults.
Status import_defaults(const TfliteOp& from, graph::Op& op, Diagnostics& diags);

struct Rule {
  std::string_view name;  // TFLite's spelling: "CONV_2D", or the name of a custom operator
  std::string_view op;    // the operator of aotc
  Import import = import_defaults;
  bool custom = false;
  // Indices of operands that may be variable tensors: the operator changes them, and they keep their values between
  // runs. In the graph each is an operand (the old value) and one more result after those of the file (the new value).
  // States for which the file has no tensor are declared by ops::Operator::kept.
  std::vector<size_t> states = {};
  // True if results may be variable tensors of the file, which are then states of the operator.
  bool variable_results = false;
  // True if the operator uses uint64 words, which are i64 in the graph.
  bool words = false;
  // For operators at which the reference implementation ends some runs: it continues in one of this many runs. Only
  // such operators may keep states after it.
  int64_t (*cycles)(const graph::Op& op) = nullptr;
  // True if the number of rows of result 0 depends on the data. Unless operand 0 is constant, the graph's operator then
  // has one more result, the row count (counted.cpp).
  bool counted = false;
  // True if each row of the result depends on one row of this operand, an index.
  bool (*by_rows)(const OpView& op, size_t operand) = nullptr;
  // True if the reference copies or compares the stored values of this operand (an index in the file) without regard to
  // scales.
  bool (*is_stored)(const OpView& op, size_t operand) = nullptr;
};

// For Rule::is_stored: these operands, whatever the types.
template <size_t... indices>
bool are_stored(const OpView&, size_t operand) {
  return ((operand == indices) || ...);
}

class RuleTable {
 public:
  // If a name is added twice, the first rule counts. A name that is not a builtin operator is found only for custom
  // operators.
  void add(const Rule& rule);

  const Rule* find_builtin(int code) const;
  const Rule* find_custom(std::string_view name) const;
  // The rules that map to this operator: builtins in the order of their codes, then custom operators.
  std::vector<const Rule*> of(std::string_view op) const;
  // Rule::cycles of an operator of the graph; nullopt if its rule has none.
  std::optional<int64_t> cycles(const graph::Op& op) const;

 private:
  std::map<int, Rule> builtins_;  // by code
  std::map<std::string, Rule, std::less<>> customs_;
};

// Every rule of this build.
const RuleTable& rules();

// Each function is defined in the file of its name in rules/.
std::span<const Rule> convolution_rules();
std::span<const Rule> custom_rules();
std::span<const Rule> elementwise_rules();
std::span<const Rule> place_rules();
std::span<const Rule> recurrent_rules();
std::span<const Rule> row_rules();
std::span<const Rule> shape_rules();

}  // namespace aotc::frontends::tflite
