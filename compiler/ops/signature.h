// SPDX-License-Identifier: Apache-2.0
// Signature: an operator's operands, results and attributes as data. SpecifiedOperator is the base of operators that
// have one. It makes from the signature: `name`, `summary`, `types`, `traits`, default attributes, all checks of
// counts, presence, constants, types, ranks, quantisation and attribute ranges, and the shapes of the results where a
// common rule gives them. An operator adds only checks and shapes that no rule states.
//
//   Cumsum()
//       : SpecifiedOperator({.name = "cumsum",
//                            .summary = "sums of the elements up to each, along an axis",
//                            .operands = {{.name = "x", .types = {DType::kF32, {DType::kI32, "wraps around"}}}},
//                            .results = {{.name = "sums"}},
//                            .attributes = make_attributes<CumsumAttrs>,
//                            .ranges = {axis_of<&CumsumAttrs::axis>("axis")}}) {}
#pragma once

#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "ops/operator.h"

namespace aotc::ops {

// An element type with the note that `aotc ops` prints.
struct TypeEntry {
  TypeEntry(DType t, std::string_view n = {}) : type(t), note(n) {}  // NOLINT: a list of types is a list of entries
  DType type;
  std::string_view note;
};

struct Ranks {
  size_t least = 0, most = 64;  // 64: any
};

struct OperandSpec {
  std::string_view name;
  // The accepted types. uint8 is listed, but not accepted, if the reader of models shifts it to int8
  // (Signature::uint8).
  std::vector<TypeEntry> types = {};
  int same_type_as = -1;  // an operand with the same type; used if `types` is empty. -1: the operator checks the type
  bool optional = false;  // may be absent
  bool constant = false;  // must be a constant if present
  Ranks ranks = {};
  // Elements are copied to every result: same type, and same quantisation, which is not per channel (check_moves).
  bool moved = false;
};

struct ResultSpec {
  static constexpr int kScalar = -1;  // the shape []
  static constexpr int kOwn = -2;

  std::string_view name;
  std::vector<DType> types = {};  // the accepted types; empty: the type of operand `type_of`
  int type_of = 0;                // kOwn: the operator checks the type
  int shape_of = 0;               // the operand whose shape it has (Shapes::kSpecified)
  bool optional = false;          // may be missing; if results are missing, the last optional ones are
};

enum class Shapes : uint8_t {
  kSpecified,  // ResultSpec::shape_of
  kBroadcast,  // one result, to which all operands broadcast
  kEqual,      // as kSpecified, and all operands have the shape of operand 0
  kOwn,        // SpecifiedOperator::shapes is overridden
};

enum class Quantized : uint8_t {
  kUnchecked,  // no type carries a scale, or the operator checks the quantisation
  kPerTensor,  // int8, uint8 and int16 tensors have one scale and one zero point each
  kSymmetric,  // the same, and zero points of int16 tensors are 0
  kOne,        // int8, uint8, int16: every operand with the type of the result has the quantisation of the result
  kCopied,     // the first result has the quantisation of the principal operand
};

// A range of an attribute, as a rule that is checked before the shapes are inferred.
struct AttributeRule {
  enum class Kind : uint8_t { kRange, kFinite, kAxis };
  std::string_view name;
  Kind kind = Kind::kRange;
  double (*value)(const OpView&) = nullptr;
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};

template <typename Attrs, typename Field>
Attrs attributes_with(Field Attrs::*);
// The value of a field of the attributes, given as a pointer to the member.
template <auto Member>
double value_of(const OpView& op) {
  return static_cast<double>(op.attrs<decltype(attributes_with(Member))>().*Member);
}
// A number from `least` to `most`.
template <auto Member>
AttributeRule within(std::string_view name, double least, double most) {
  return {name, AttributeRule::Kind::kRange, value_of<Member>, least, most};
}
// A float that is neither infinite nor NaN, and at least `least`.
template <auto Member>
AttributeRule finite(std::string_view name, double least = -std::numeric_limits<double>::infinity()) {
  return {name, AttributeRule::Kind::kFinite, value_of<Member>, least};
}
// A dimension of operand 0, counted from 0.
template <auto Member>
AttributeRule axis_of(std::string_view name) {
  return {name, AttributeRule::Kind::kAxis, value_of<Member>};
}

template <typename Attrs>
std::shared_ptr<graph::AttributesBase> make_attributes() {
  return std::make_shared<Attrs>();
}

struct Signature {
  std::string_view name;
  std::string_view summary;  // one line for `aotc ops`
  std::vector<OperandSpec> operands;
  std::vector<ResultSpec> results;
  size_t principal = 0;      // the operand whose types `aotc ops` lists
  size_t most_operands = 0;  // if not 0: the last operand is repeated, up to this count in all
  bool all_listed = false;   // absent optional operands at the end have a place in the list, too
  bool any_results = false;  // the last result is repeated; `shapes` states how often
  Shapes shapes = Shapes::kSpecified;
  Quantized quantized = Quantized::kUnchecked;
  bool empty = true;          // operand 0 may have no elements
  Uint8 uint8 = Uint8::kOwn;  // what the reader of models makes of uint8 operands
  Traits traits = {};
  std::shared_ptr<graph::AttributesBase> (*attributes)() = make_attributes<graph::NoAttributes>;
  std::vector<AttributeRule> ranges = {};
};

class SpecifiedOperator : public Operator {
 public:
  explicit SpecifiedOperator(Signature signature) : signature_(std::move(signature)) {}
  const Signature& signature() const { return signature_; }

  std::string_view name() const final { return signature_.name; }
  std::string_view summary() const final { return signature_.summary; }
  std::vector<TypeSupport> types() const override;
  Traits traits() const final { return signature_.traits; }
  Uint8 uint8_form(const OpView&) const override { return signature_.uint8; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override { return signature_.attributes(); }
  // Counts, presence, ranks and attribute ranges, then `shapes` and those of `kept`.
  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const final;
  // Constants, types and quantisation, then `check`.
  Status verify(const OpView& op, Diagnostics& diags) const final;

 protected:
  // Counts, presence, ranks and attribute ranges. A Stateful operator may have more operands and results.
  bool check_declared(const OpView& op, Diagnostics& diags) const;
  // The shapes of the results; called after the checks of `infer`. Reports [op-shape] or [op-attribute]. Operators with
  // Shapes::kOwn override it.
  virtual Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const;
  // Conditions that the signature cannot state; called last. Reports the problem and returns false.
  virtual bool check(const OpView&, Diagnostics&) const { return true; }
  // StatefulOperator::kept.
  virtual Result<std::vector<OperatorState>> kept(const OpView&, Diagnostics&) const {
    return std::vector<OperatorState>{};
  }

 private:
  const OperandSpec& operand_spec(size_t i) const;
  const ResultSpec& result_spec(const OpView& op, size_t i) const;
  size_t declared_operands(const OpView& op) const;
  size_t declared_results(const OpView& op) const;
  bool check_all_counts(const OpView& op, Diagnostics& diags) const;
  std::vector<DType> accepted(const OperandSpec& spec) const;
  bool check_ranges(const OpView& op, Diagnostics& diags) const;
  bool check_operands(const OpView& op, Diagnostics& diags) const;
  bool check_results(const OpView& op, Diagnostics& diags) const;
  bool check_quantization(const OpView& op, Diagnostics& diags) const;
  bool check_kept(const OpView& op, Diagnostics& diags) const;

  const Signature signature_;
};

// An operator with a state that no tensor of the model's file has. Its signature leaves out what each kept value adds:
// an operand, and a result unless OperatorState::result names one. Their counts, types and shapes follow from `kept`.
class StatefulOperator : public SpecifiedOperator, public Stateful {
 public:
  using SpecifiedOperator::SpecifiedOperator;
  Result<std::vector<OperatorState>> states(const OpView& op, Diagnostics& diags) const final {
    return check_declared(op, diags) ? kept(op, diags) : Result<std::vector<OperatorState>>(kFailure);
  }

 protected:
  // The values kept between runs. Called after check_declared, with or without the operands and results that they add.
  // Reports the reason if the operator cannot keep its state.
  Result<std::vector<OperatorState>> kept(const OpView& op, Diagnostics& diags) const override = 0;
};

}  // namespace aotc::ops
