// SPDX-License-Identifier: Apache-2.0
// The family of reductions. A Rule is one row of the table in reduce.cpp: what is combined, from
// which value on, and what becomes of it at the end. A Reduction is a rule applied to one operator:
// what evaluation and lowering need to know. The one thing to know: elements are combined in the
// operand's memory order, and over all axes a float result begins with the first element, not with
// the rule's value, as in LiteRT.
#pragma once

#include <string_view>
#include <vector>

#include "ops/common/reduction.h"
#include "ops/signature.h"
#include "support/numerics.h"

namespace aotc::ops::reduce {

// so_far and one more element, as host floats, as host integers that wrap around in 64 bits, and as
// TIR. `wraps`: in TIR, integers may leave their type and wrap.
struct Combine {
  float (*of_floats)(float so_far, float x, bool wraps);
  int64_t (*of_integers)(int64_t so_far, int64_t x, bool wraps);
  tir::Ex (*emit)(tir::Ex so_far, tir::Ex x, bool wraps);
};

// The result of no elements, where the reference gives one.
enum class Start { kZero, kOne, kLowest, kHighest, kBelowAll, kAboveAll };  // the last two: infinities

// What becomes of the combined elements.
enum class Finish {
  kValue,    // nothing: the result is one of the elements, or a truth value
  kSum,      // quantised: rescaled from operand to result; others wrap around
  kMean,     // divided by their number; quantised: the same, with that in the multiplier
  kProduct,  // quantised: rescaled at every step; others wrap around
};

struct Rule {
  std::string_view name, summary;
  std::string_view variable;  // of what is combined so far
  Start start;
  Combine combine;
  Finish finish;
  std::vector<TypeEntry> types;
};

// A dimension of the operand, after neighbours that fare alike are merged and those of size 1 are
// left out.
struct Dim {
  int64_t extent = 1;
  bool reduced = false;
  int64_t in_stride = 1, out_stride = 0;
};

std::vector<Dim> dims_of(const graph::Shape& in, const ReduceFields& attrs);
int64_t count_of(const std::vector<Dim>& dims);  // elements that make one result

enum class Arithmetic { kFloat, kInteger, kScaledSum, kScaledProduct };

struct Reduction {
  Reduction(const Rule& rule, const OpView& op);

  // Are all results combined of every one of so many equal pieces of the operand?
  bool in_pieces(int64_t pieces) const;

  bool quantized() const { return arithmetic == Arithmetic::kScaledSum || arithmetic == Arithmetic::kScaledProduct; }
  // Whether elements may be combined in another order.
  bool any_order() const { return arithmetic == Arithmetic::kInteger || arithmetic == Arithmetic::kScaledSum; }
  // Whether the first element stands for the start value.
  bool from_first() const;
  // What integers start from; a sum of quantised values has the zero points taken off here.
  int64_t start() const;
  float float_start() const;
  // Magnitude of the largest sum of quantised values.
  int64_t largest_sum() const;
  // From operand to result: kScaledSum, or each step of kScaledProduct.
  double scaling() const;
  QuantizedMultiplier multiplier() const;

  const Rule& rule;
  const OpView& op;
  DType type;
  Arithmetic arithmetic;
  std::vector<Dim> dims;
  int64_t count;  // elements that make one result
};

// A product of quantised values scaled back: the reference's multiplication of 64 bits by a
// multiplier of which 16 bits are kept. floor((x * factor + half) / 2^shift).
struct ProductScale {
  explicit ProductScale(QuantizedMultiplier m);
  int64_t factor, half;
  int shift;
  int32_t operator()(int64_t x) const { return static_cast<int32_t>((x * factor + half) >> shift); }
};
// Larger exponents of the multiplier are none that the reference defines.
inline constexpr int kMostProductShift = 7;

// Calls visit(input index, output index) for every element, in memory order.
template <typename Visit>
void for_each_element(const std::vector<Dim>& dims, int64_t elements, Visit visit) {
  std::vector<int64_t> at(dims.size(), 0);
  int64_t out = 0;
  for (int64_t in = 0; in < elements; ++in) {
    visit(static_cast<size_t>(in), static_cast<size_t>(out));
    for (size_t d = dims.size(); d-- > 0;) {
      out += dims[d].out_stride;
      if (++at[d] < dims[d].extent) break;
      out -= dims[d].out_stride * dims[d].extent;
      at[d] = 0;
    }
  }
}

// Reports what the arithmetic cannot do.
Status verify_quantization(const Reduction& r, Diagnostics& diags);
void evaluate(const Reduction& r, const EvalData& data);
Lowered lower(const Reduction& r);
// Of reductions that are in_pieces().
RowSums lower_pieces(const Reduction& r, int64_t pieces);

// The attributes of a reduction with its axes in another order.
template <typename Attrs>
std::shared_ptr<Attrs> reordered(const Attrs& attrs, const Order& axes) {
  auto out = std::make_shared<Attrs>(attrs);
  out->axes.clear();
  for (size_t i = 0; i < axes.size(); ++i)
    if (attrs.reduces(static_cast<size_t>(axes[i]))) out->axes.push_back(static_cast<int64_t>(i));
  return out;
}
// The axes of a reduction that keeps or drops the reduced dimensions.
AxisFlow flow_of(const graph::Shape& in, const ReduceFields& attrs);

std::unique_ptr<Operator> make_dequantized_mean();

}  // namespace aotc::ops::reduce
