// SPDX-License-Identifier: Apache-2.0
// Which operator of the format becomes which of ours, and how: one row each, in a file of rules/
// for each family. The one thing to know: operators know nothing of this format, and nothing but
// these rows knows both.
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
// Nothing in the file but operands and results: attributes have their defaults.
Status import_defaults(const TfliteOp& from, graph::Op& op, Diagnostics& diags);

struct Rule {
  std::string_view name;  // as the format spells it: "CONV_2D"; a custom operator's own
  std::string_view op;    // ours
  Import import = import_defaults;
  bool custom = false;
  // Operands that may be variable tensors: the operator changes them, and they keep their values
  // from run to run. In the graph each is an operand as well, the value before, and one more result
  // behind those of the file, the value after. (What an operator keeps without a tensor in the
  // file, it says itself: ops::Operator::kept.)
  std::vector<size_t> states = {};
  // May results be variable tensors of the file? Then they are what the operator keeps.
  bool variable_results = false;
  // Takes and gives uint64: words of 64 bits, which are i64 in the graph.
  bool words = false;
  // Of operators behind which the reference ends some runs: it goes on in one of so many runs that
  // come here. None but such operators may keep anything behind them.
  int64_t (*cycles)(const graph::Op& op) = nullptr;
  // Result 0 has as many rows as the data says: unless operand 0 is constant, the graph's operator has one more
  // result behind those of the file, which counts them (counted.cpp).
  bool counted = false;
  // Does each row of the result come from one row of this operand, an index?
  bool (*by_rows)(const OpView& op, size_t operand) = nullptr;
  // Operand, by its index in the file, whose stored values the reference copies or compares without a look at scales.
  bool (*is_stored)(const OpView& op, size_t operand) = nullptr;
};

// For Rule::is_stored: these operands, whatever the types.
template <size_t... indices>
bool are_stored(const OpView&, size_t operand) {
  return ((operand == indices) || ...);
}

class RuleTable {
 public:
  // Of a name that is there the first rule counts. A name that is no builtin operator of the format
  // is never found, unless it is a custom operator's.
  void add(const Rule& rule);

  const Rule* find_builtin(int code) const;
  const Rule* find_custom(std::string_view name) const;
  // Those that become this operator: builtins in the order of their codes, then custom operators.
  std::vector<const Rule*> of(std::string_view op) const;
  // Rule::cycles of an operator of the graph, if it has any.
  std::optional<int64_t> cycles(const graph::Op& op) const;

 private:
  std::map<int, Rule> builtins_;  // by code
  std::map<std::string, Rule, std::less<>> customs_;
};

// Every rule of this build.
const RuleTable& rules();

// Each defined in the file of its name in rules/.
std::span<const Rule> convolution_rules();
std::span<const Rule> custom_rules();
std::span<const Rule> elementwise_rules();
std::span<const Rule> place_rules();
std::span<const Rule> recurrent_rules();
std::span<const Rule> row_rules();
std::span<const Rule> shape_rules();

}  // namespace aotc::frontends::tflite
