// SPDX-License-Identifier: Apache-2.0
// The table of reductions, and the operator that each row is.
#include "ops/reduce/reduce.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/reduction.h"

namespace aotc::ops {

namespace reduce {

namespace {

using tir::Ex;

float add(float a, float b, bool) { return a + b; }
int64_t add(int64_t a, int64_t b, bool) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
Ex add(const Ex& a, const Ex& b, bool wraps) { return wraps ? add_wrapping(a, b) : a + b; }

float multiply(float a, float b, bool) { return a * b; }
int64_t multiply(int64_t a, int64_t b, bool) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
Ex multiply(const Ex& a, const Ex& b, bool wraps) { return wraps ? mul_wrapping(a, b) : a * b; }

// a > b ? a : b, also of NaN and -0, as tir's max.
template <typename T>
T larger(const T& a, const T& b) {
  return a > b ? a : b;
}
Ex larger(const Ex& a, const Ex& b) { return max(a, b); }
template <typename T>
T smaller(const T& a, const T& b) {
  return a < b ? a : b;
}
Ex smaller(const Ex& a, const Ex& b) { return min(a, b); }

// What is not a number stays that, on either side.
float larger_or_none(float most, float x, bool) { return x > most || std::isnan(x) ? x : most; }
int64_t larger_or_none(int64_t most, int64_t x, bool) { return larger(x, most); }
Ex larger_or_none(const Ex& most, const Ex& x, bool) { return select((x > most) || (x != x), x, most); }
float smaller_or_none(float least, float x, bool) { return x < least || std::isnan(x) ? x : least; }
int64_t smaller_or_none(int64_t least, int64_t x, bool) { return smaller(x, least); }
Ex smaller_or_none(const Ex& least, const Ex& x, bool) { return select((x < least) || (x != x), x, least); }

// The three forms of one generic expression.
template <typename F>
Combine combine(F of) {
  return {of, of, of};
}

const std::vector<TypeEntry> kOrdered = {DType::kI8, DType::kF32, DType::kI32, DType::kU8, DType::kI16, DType::kI64};

const std::vector<Rule>& rules() {
  static const Combine kAdd = combine([](auto sum, auto x, bool wraps) { return add(sum, x, wraps); });
  static const Combine kMultiply =
      combine([](auto product, auto x, bool wraps) { return multiply(product, x, wraps); });
  // In this order a NaN never replaces a number, nor a zero the other zero.
  static const Combine kLarger = combine([](auto most, auto x, bool) { return larger(x, most); });
  static const Combine kSmaller = combine([](auto least, auto x, bool) { return smaller(x, least); });
  static const Combine kLargerOrNone = combine([](auto most, auto x, bool) { return larger_or_none(most, x, false); });
  static const Combine kSmallerOrNone =
      combine([](auto least, auto x, bool) { return smaller_or_none(least, x, false); });
  static const std::vector<Rule> kRules = {
      {"sum",
       "sum along axes",
       "sum",
       Start::kZero,
       kAdd,
       Finish::kSum,
       {DType::kI8,
        DType::kF32,
        {DType::kI32, "wraps around"},
        DType::kU8,
        DType::kI16,
        {DType::kI64, "wraps around"}}},
      {"mean",
       "mean over axes",
       "sum",
       Start::kZero,
       kAdd,
       Finish::kMean,
       {DType::kI8,
        DType::kF32,
        {DType::kI32, "not quantised"},
        DType::kU8,
        DType::kI16,
        {DType::kI64, "not quantised"}}},
      {"reduce_prod",
       "product along axes",
       "product",
       Start::kOne,
       kMultiply,
       Finish::kProduct,
       {DType::kI8,
        DType::kF32,
        {DType::kI32, "wraps around"},
        {DType::kU8, "not quantised"},
        DType::kI16,
        {DType::kI64, "wraps around"}}},
      {"reduce_max", "largest element along axes", "most", Start::kLowest, kLarger, Finish::kValue, kOrdered},
      {"reduce_min", "smallest element along axes", "least", Start::kHighest, kSmaller, Finish::kValue, kOrdered},
      {"reduce_max_nan",
       "largest element along axes, infinite ones too, or what is not a number",
       "most",
       Start::kBelowAll,
       kLargerOrNone,
       Finish::kValue,
       {DType::kF32}},
      {"reduce_min_nan",
       "smallest element along axes, infinite ones too, or what is not a number",
       "least",
       Start::kAboveAll,
       kSmallerOrNone,
       Finish::kValue,
       {DType::kF32}},
      // Truth values are 0 and 1.
      {"reduce_any", "is any element along axes true?", "any", Start::kZero, kLarger, Finish::kValue, {DType::kBool}},
      {"reduce_all", "are all elements along axes true?", "all", Start::kOne, kSmaller, Finish::kValue, {DType::kBool}},
  };
  return kRules;
}

class Reduce final : public SpecifiedOperator, public Transposable, public Streamable {
 public:
  explicit Reduce(const Rule& rule)
      : SpecifiedOperator({.name = rule.name,
                           .summary = rule.summary,
                           .operands = {{.name = "x", .types = rule.types}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .attributes = make_attributes<ReduceAttrs>}),
        rule_(rule) {}

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    return flow_of(op.operand(0).shape, op.attrs<ReduceAttrs>());
  }
  // Each result is combined in memory order, so where that counts reduced axes stay in order among themselves.
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    const auto& attrs = op.attrs<ReduceAttrs>();
    Order reduced;
    for (int axis : axes)
      if (attrs.reduces(static_cast<size_t>(axis)) && op.operand(0).shape[static_cast<size_t>(axis)] != 1)
        reduced.push_back(axis);
    bool any_order = Reduction(rule_, op).any_order();
    return any_order || std::is_sorted(reduced.begin(), reduced.end()) ? reordered(attrs, axes) : nullptr;
  }

  void evaluate(const OpView& op, const EvalData& data) const override { reduce::evaluate(Reduction(rule_, op), data); }
  Lowered lower(const OpView& op, const TargetInfo&) const override { return reduce::lower(Reduction(rule_, op)); }
  bool sums_pieces(const OpView& op, int64_t pieces) const override { return Reduction(rule_, op).in_pieces(pieces); }
  RowSums lower_pieces(const OpView& op, int64_t pieces, const TargetInfo&) const override {
    return reduce::lower_pieces(Reduction(rule_, op), pieces);
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    return infer_reduction(op, op.attrs<ReduceAttrs>(), diags);
  }
  bool check(const OpView& op, Diagnostics& diags) const override {
    Reduction r(rule_, op);
    if (r.count < 1 && (rule_.finish == Finish::kMean || r.quantized()))
      return bad_shape(op, diags, fmt::format("{} of no elements", rule_.name));
    return verify_quantization(r, diags).ok();
  }

 private:
  const Rule& rule_;
};

}  // namespace

AxisFlow flow_of(const graph::Shape& in, const ReduceFields& attrs) {
  AxisFlow flow = same_axes(1, 1, in.size());
  if (!attrs.keep_dims)
    std::erase_if(flow.results[0], [&](int axis) { return attrs.reduces(static_cast<size_t>(axis)); });
  return flow;
}

}  // namespace reduce

void add_operators_reduce(OperatorSet& set) {
  for (const reduce::Rule& rule : reduce::rules()) set.add(std::make_unique<reduce::Reduce>(rule));
  set.add(reduce::make_dequantized_mean());
}

}  // namespace aotc::ops
