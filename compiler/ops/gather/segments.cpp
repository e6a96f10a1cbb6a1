// SPDX-License-Identifier: Apache-2.0
// unsorted_segment_sum and its relatives: slices of the data that have the same number are combined, and the
// result has as many slices as there are numbers. Numbers below 0 leave a slice out; those that are too large
// are refused, when the model runs if they are known only then.
#include <limits>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/gather/attributes.h"
#include "ops/gather/indices.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::Ex;

namespace {

struct Combination {
  std::string_view name, summary;
  float first_float;
  int32_t first_int;
  Ex (*combine)(const Ex& so_far, const Ex& x);
};

bool is_whole(const Ex& x) { return x.type() == DType::kI32; }

// What is equal or not a number leaves what was there.
constexpr Combination kCombinations[] = {
    {"unsorted_segment_sum", "sums of slices with the same number", 0.0f, 0,
     [](const Ex& a, const Ex& b) { return is_whole(a) ? add_wrapping(a, b) : a + b; }},
    {"unsorted_segment_prod", "products of slices with the same number", 1.0f, 1,
     [](const Ex& a, const Ex& b) { return is_whole(a) ? mul_wrapping(a, b) : a * b; }},
    {"unsorted_segment_max", "largest of slices with the same number", std::numeric_limits<float>::lowest(), INT32_MIN,
     [](const Ex& a, const Ex& b) { return select(a < b, b, a); }},
    {"unsorted_segment_min", "smallest of slices with the same number", std::numeric_limits<float>::max(), INT32_MAX,
     [](const Ex& a, const Ex& b) { return select(b < a, b, a); }},
};

// Operands: data, numbers of its slices (int32, the first dimensions of the data).
class UnsortedSegment final : public SpecifiedOperator {
 public:
  explicit UnsortedSegment(const Combination& what)
      : SpecifiedOperator({.name = what.name,
                           .summary = what.summary,
                           .operands = {{.name = "data", .types = {DType::kF32, {DType::kI32, "wraps around"}}},
                                        {.name = "segments", .types = {DType::kI32}}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .traits = {.may_fail = true},
                           .attributes = make_attributes<SegmentAttrs>}),
        what_(what) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const int32_t segments = op.attrs<SegmentAttrs>().segments;
    const int64_t slice = op.result().elements() / segments;
    LoweringBuilder f(op, std::string(name()));
    tir::BufferPtr in = f.operand(0), numbers = f.operand(1), out = f.result();
    const bool whole = in->dtype == DType::kI32;
    f.loop("i", 0, out->elements,
           [&](Ex i) { f.store(out, i, whole ? Ex(int64_t{what_.first_int}) : tir::f32(what_.first_float)); });
    f.loop("i", 0, numbers->elements, [&](Ex i) {
      Ex number = f.let("number", load(numbers, i));
      if (!op.constant(1)) f.if_(number >= segments, [&] { f.fail(); });
      f.if_(number >= 0, [&] {
        f.loop("k", 0, slice, [&](Ex k) {
          Ex at = f.let("at", number * slice + k);
          Ex so_far = f.let("so_far", load(out, at)), x = f.let("x", load(in, i * slice + k));
          f.store(out, at, what_.combine(so_far, x));
        });
      });
    });
    return f.finish("one pass");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape &data = op.operand(0).shape, &numbers = op.operand(1).shape;
    const int32_t segments = op.attrs<SegmentAttrs>().segments;
    if (segments < 1) {
      bad_attribute(op, diags, fmt::format("a result of {} segments", segments));
      return kFailure;
    }
    if (numbers.size() > data.size() || !std::equal(numbers.begin(), numbers.end(), data.begin())) {
      bad_shape(op, diags,
                fmt::format("numbers of shape {} do not fit data of shape {}", graph::to_string(numbers),
                            graph::to_string(data)));
      return kFailure;
    }
    graph::Shape out = {segments};
    out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(numbers.size()), data.end());
    return std::vector<graph::Shape>{out};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    if (const graph::ConstantView* numbers = op.constant(1)) {
      for (int64_t number : widen(DType::kI32, numbers->bytes)) {
        if (number < op.attrs<SegmentAttrs>().segments) continue;
        bad_attribute(op, diags, fmt::format("number {} of {} segments", number, op.attrs<SegmentAttrs>().segments));
        return false;
      }
    }
    return true;
  }

 private:
  const Combination& what_;
};

}  // namespace

void add_segments(OperatorSet& set) {
  for (const Combination& what : kCombinations) set.add(std::make_unique<UnsortedSegment>(what));
}

}  // namespace aotc::ops
