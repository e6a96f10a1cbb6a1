// SPDX-License-Identifier: Apache-2.0
// quantize: float32 to a quantised type, or one quantised type to another.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/lut.h"
#include "ops/common/quantization.h"
#include "ops/common/requantize.h"
#include "ops/common/scaler.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

using tir::Ex;
using tir::Intrinsic;

double rescale_of(const OpView& op) {
  return static_cast<double>(op.operand(0).scale()) / static_cast<double>(op.result().scale());
}

int64_t largest_distance(const graph::TensorType& type) {
  IntRange range = int_range(type.dtype);
  return std::max(range.max - type.zero_point(), type.zero_point() - range.min);
}

// Saturates before the conversion to an integer; NaN, for which the reference is undefined, gives
// the smallest value.
int64_t quantize_float(float x, float scale, int64_t zero, IntRange range, RoundingRule rule) {
  float whole = rule == RoundingRule::kOnnxruntime ? std::nearbyint(x / scale) : std::round(x / scale);
  float least = static_cast<float>(range.min - zero), most = static_cast<float>(range.max - zero);
  whole = whole > least ? whole : least;
  return static_cast<int64_t>(whole < most ? whole : most) + zero;
}

struct QuantizeAttrs : graph::Attributes<QuantizeAttrs> {
  RoundingRule rounding = RoundingRule::kLitert;
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("rounding", self.rounding);
  }
};

class Quantize final : public SpecifiedOperator {
 public:
  Quantize()
      : SpecifiedOperator({.name = "quantize",
                           .summary = "float32 to a quantised type, or one quantised type to another",
                           .operands = {{.name = "x",
                                         .types = {{DType::kF32, "to int8, uint8, int16; per channel too"},
                                                   {DType::kI32, "to int8, int16"},
                                                   {DType::kI8, "to int8, uint8, int16"},
                                                   {DType::kU8, "to int8, uint8, int16"},
                                                   {DType::kI16, "to int8, int16, int32"}}}},
                           .results = {{.name = "y", .type_of = ResultSpec::kOwn}},
                           .traits = {.elementwise = true, .conversion = true},
                           .attributes = make_attributes<QuantizeAttrs>}) {}

  // What makes uint8 of floats mostly does it for an operator that takes it as int8.
  Uint8 uint8_form(const OpView& op) const override {
    return op.has_operand(0) && op.operand(0).dtype == DType::kF32 ? Uint8::kShifted : Uint8::kEither;
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (op.operand(0).dtype != DType::kF32) return evaluate_unary_int(op, data, requantized(op));
    auto in = data.in<float>(0);
    Slices slices(op.result());
    IntRange range = int_range(op.result().dtype);
    std::vector<int64_t> out(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
      size_t c = slices.channel_of(i);
      out[i] = quantize_float(in[i], slices.scale(c), slices.zero_point(c), range, op.attrs<QuantizeAttrs>().rounding);
    }
    narrow(op.result().dtype, out, data.results[0]);
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    DType from = op.operand(0).dtype;
    if (from == DType::kF32) return lower_float(op);
    if (is_byte(from)) return lower_byte_function(op, "quantize", requantized(op));
    if (from == DType::kI32) return lower_int32(op);
    return lower_int16(op);
  }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    DType from = op.operand(0).dtype, to = op.result().dtype;
    std::vector<DType> results = {DType::kI8, DType::kU8, DType::kI16};
    if (from == DType::kI32) results = {DType::kI8, DType::kI16};
    if (from == DType::kI16) results = {DType::kI8, DType::kI16, DType::kI32};
    if (std::find(results.begin(), results.end(), to) == results.end()) {
      diags.error(op.where(), "op-type",
                  fmt::format("quantize of {} makes {}; the model asks for {}", name_of(from), list_types(results),
                              name_of(to)));
      return false;
    }
    const graph::Tensor& result = op.graph[op.op.results[0]];
    if (from == DType::kF32) return check_slices(op, result, diags);
    if (op.attrs<QuantizeAttrs>().rounding != RoundingRule::kLitert) {
      bad_attribute(op, diags, "rounding = onnxruntime is for float32 operands");
      return false;
    }
    bool good = check_per_tensor(op, op.operand_tensor(0), diags) && check_per_tensor(op, result, diags);
    if (good && from == DType::kI16 && to == DType::kI16) good = check_symmetric_io(op, diags);
    // int32 is shifted out of its bits, as the reference has it.
    int64_t largest = from == DType::kI32 ? 1 : largest_distance(op.operand(0));
    good = good && check_multiplier(op, rescale_of(op), largest, diags) &&
           (to != DType::kI32 || check_zero_point(op, diags));
    return good;
  }

 private:
  // Of int32: adding it must not leave 32 bits.
  static bool check_zero_point(const OpView& op, Diagnostics& diags) {
    double most = rescale_of(op) * static_cast<double>(largest_distance(op.operand(0)));
    if (most + std::abs(static_cast<double>(op.result().zero_point())) < 2147483647.0) return true;
    diags.error(op.where(), "op-quantization",
                fmt::format("zero point {} of the result takes values of up to {:g} out of 32 bits",
                            op.result().zero_point(), most));
    return false;
  }

  static ByteFunction requantized(const OpView& op) {
    QuantizedMultiplier m = quantize_multiplier(rescale_of(op));
    IntRange range = int_range(op.result().dtype);
    int64_t zero_in = op.operand(0).zero_point(), zero_out = op.result().zero_point();
    return [=](int64_t x) {
      int64_t y = multiply_by_quantized_multiplier(static_cast<int32_t>(x - zero_in), m);
      return std::clamp<int64_t>(static_cast<int32_t>(y + zero_out), range.min, range.max);
    };
  }

  static Lowered lower_float(const OpView& op) {
    Slices slices(op.result());
    IntRange range = int_range(op.result().dtype);
    bool even = op.attrs<QuantizeAttrs>().rounding == RoundingRule::kOnnxruntime;
    LoweringBuilder f(op, "quantize");
    tir::BufferPtr in = f.operand(0);
    SliceTables tables(f, slices);
    tir::BufferPtr out = f.result();
    tables.for_each(f, [&](const Ex& i, const Ex& scale, const Ex& zero) {
      Ex place = load(in, i) / scale;
      if (!even) place = call(Intrinsic::kRound, DType::kF32, {place});
      place = f.let(even ? "place" : "whole", place);
      // The zero point is exact in float32, and so are the bounds.
      Ex least = cast(DType::kF32, Ex(range.min) - zero);
      Ex most = cast(DType::kF32, Ex(range.max) - zero);
      Ex bounded = f.let("bounded", min(max(place, least), most));
      if (even) bounded = f.let("whole", emit_nearest_even(bounded));
      f.store(out, i, cast(DType::kI32, bounded) + zero);
    });
    return f.finish(slices.count() > 1 ? "per channel" : "flat loop");
  }

  // Every step in 32 bits, as the reference takes them: what leaves them wraps around.
  static Lowered lower_int32(const OpView& op) {
    IntRange range = int_range(op.result().dtype);
    QuantizedMultiplier m = quantize_multiplier(rescale_of(op));
    ClampI32 clamp{static_cast<int32_t>(range.min), static_cast<int32_t>(range.max)};
    return lower_unary(op, "quantize", [&](tir::FunctionBuilder& f, const Ex& x) {
      Ex distance = f.let("distance", sub_wrapping(x, op.operand(0).zero_point()));
      Ex y = emit_multiply(f, distance, m, int64_t{1} << 31);
      return emit_bound(add_wrapping(y, op.result().zero_point()), clamp);
    });
  }

  static Lowered lower_int16(const OpView& op) {
    IntRange range = int_range(op.result().dtype);
    LoweringBuilder f(op, "quantize");
    tir::BufferPtr in = f.operand(0);
    Parameters p;
    size_t zero_in = p.add("in_zero", op.operand(0).zero_point());
    Scaler scaler(p, "out", quantize_multiplier(rescale_of(op)));
    size_t zero_out = p.add("out_zero", op.result().zero_point());
    p.load(f);
    tir::BufferPtr out = f.result();
    ClampI32 clamp{static_cast<int32_t>(range.min), static_cast<int32_t>(range.max)};
    f.loop("i", 0, op.result().elements(), [&](const Ex& i) {
      Ex x = f.let("x", load(in, i) - p[zero_in]);
      f.store(out, i, emit_bound(scaler.emit(f, x) + p[zero_out], clamp));
    });
    return f.finish("flat loop");
  }
};

}  // namespace

void add_operators_quantize(OperatorSet& set) { set.add(std::make_unique<Quantize>()); }

}  // namespace aotc::ops
