// SPDX-License-Identifier: Apache-2.0
// float_decode, float_encode, float_round: stored floats to f32, f32 to stored floats, and f32 to
// those f32 that can be stored. All of it on the bits, as processors without these types do it.
#include "ops/float_formats/attributes.h"

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/signature.h"

namespace aotc::ops {

std::span<const std::string_view> enum_names(FloatFormat) {
  static constexpr std::string_view kNames[] = {"f16",      "bf16", "e4m3fn", "e4m3fnuz", "e5m2",
                                                "e5m2fnuz", "e2m1", "e8m0",   "f64"};
  return kNames;
}

std::span<const std::string_view> enum_names(PowerRounding) {
  static constexpr std::string_view kNames[] = {"up", "down", "nearest"};
  return kNames;
}

DType storage_of(FloatFormat format) {
  if (format == FloatFormat::kF64) return DType::kF64;
  return format == FloatFormat::kF16 || format == FloatFormat::kBf16 ? DType::kU16 : DType::kU8;
}

namespace {

using tir::Ex;
using tir::f32;
using tir::FunctionBuilder;
using tir::Intrinsic;

constexpr int64_t kInfinity = 0x7f800000;  // the bits of f32
constexpr int64_t kNaN = 0x7fc00000;

// Codes without their sign.
struct Layout {
  int bits, exponent, mantissa, bias;
  int64_t most;      // the largest number
  int64_t infinity;  // -1: there is none
  int64_t nan;       // -1: there is none; with the sign where that is what makes it one
};

Layout layout_of(FloatFormat format) {
  switch (format) {
    case FloatFormat::kE4m3fn: return {8, 4, 3, 7, 0x7e, -1, 0x7f};
    case FloatFormat::kE4m3fnuz: return {8, 4, 3, 8, 0x7f, -1, 0x80};
    case FloatFormat::kE5m2: return {8, 5, 2, 15, 0x7b, 0x7c, 0x7f};
    case FloatFormat::kE5m2fnuz: return {8, 5, 2, 16, 0x7f, -1, 0x80};
    case FloatFormat::kE2m1: return {4, 2, 1, 1, 0x7, -1, -1};
    case FloatFormat::kBf16: return {16, 8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0};
    default: return {16, 5, 10, 15, 0x7bff, 0x7c00, 0x7e00};
  }
}

bool has_negative_zero(FloatFormat format) {
  return format != FloatFormat::kE4m3fnuz && format != FloatFormat::kE5m2fnuz;
}

Ex from_bits(const Ex& bits) { return call(Intrinsic::kFloatFromBits, DType::kF32, {bits}); }

Ex decode_power(FunctionBuilder& f, const Ex& stored) {
  Ex exponent = f.let("exponent", stored);
  // 2^-127 is no normal float.
  Ex bits = select(exponent == 0, 0x00400000, exponent << 23);
  return from_bits(select(exponent == 255, kNaN, bits));
}

Ex decode(FunctionBuilder& f, const Ex& stored, FloatFormat format) {
  if (format == FloatFormat::kF64) return cast(DType::kF32, stored);
  if (format == FloatFormat::kE8m0) return decode_power(f, stored);
  if (format == FloatFormat::kBf16) return from_bits(shl_wrapping(stored, 16));
  Layout l = layout_of(format);
  int64_t sign = int64_t{1} << (l.bits - 1);
  Ex code = f.let("code", stored & (2 * sign - 1));
  Ex magnitude = f.let("magnitude", code & (sign - 1));
  Ex exponent = f.let("exponent", magnitude >> l.mantissa);
  Ex rest = magnitude & ((int64_t{1} << l.mantissa) - 1);
  Ex whole = select(exponent == 0, rest, rest + (int64_t{1} << l.mantissa));
  // The unit of the last digit, a power of two that f32 has.
  Ex unit = from_bits((max(exponent, 1) + (127 - l.bias - l.mantissa)) << 23);
  Ex value = f.let("value", cast(DType::kF32, whole) * unit);
  if (l.infinity >= 0)
    value = select(magnitude < l.infinity, value, from_bits(select(magnitude == l.infinity, kInfinity, kNaN)));
  value = select(code >= sign, value * f32(-1.0f), value);
  if (l.nan < 0 || l.infinity >= 0) return value;
  return select((l.nan < sign ? magnitude : code) == l.nan, from_bits(kNaN), value);
}

Ex encode_power(FunctionBuilder& f, const Ex& x, const FloatFormatAttrs& attrs) {
  Ex bits = f.let("bits", call(Intrinsic::kFloatBits, DType::kI32, {x}));
  Ex magnitude = f.let("magnitude", min(bits & 0x7fffffff, kNaN));
  Ex exponent = f.let("exponent", magnitude >> 23);
  Ex rest = f.let("rest", magnitude & 0x7fffff);
  // The smallest power is half of the smallest normal float's.
  Ex half = select(exponent == 0, 0x600000, 0x400000);
  Ex up = attrs.powers == PowerRounding::kUp     ? (rest > 0 && (exponent > 0 || rest > 0x400000))
          : attrs.powers == PowerRounding::kDown ? Ex(0)
                                                 : rest >= half;
  Ex power = f.let("power", exponent + select(up, 1, 0));
  Ex most = attrs.saturate ? Ex(254) : Ex(255);
  // Negative numbers have no power, and NaN none either.
  return select(magnitude > kInfinity || (bits < 0 && magnitude > 0), 255, min(power, most));
}

// Of a magnitude up to infinity, the code to the nearest, ties to even; beyond `most` where it is
// too large.
Ex nearest(FunctionBuilder& f, const Ex& magnitude, const Layout& l) {
  if (l.exponent == 8)  // bf16: the upper half
    return (magnitude + 0x7fff + ((magnitude >> 16) & 1)) >> 16;
  Ex raw = f.let("raw", (magnitude >> 23) - (127 - l.bias));
  Ex exponent = f.let("exponent", max(raw, 1));
  // Digits that go: more of what is below the smallest normal number, and then all.
  Ex drop = f.let("drop", min(exponent - raw + (23 - l.mantissa), 25));
  Ex digits = f.let("digits", (magnitude & 0x7fffff) + 0x800000);
  Ex kept = f.let("kept", digits >> drop);
  Ex gone = f.let("gone", digits - (kept << drop));
  Ex half = f.let("half", Ex(1) << (drop - 1));
  Ex up = gone > half || (gone == half && (kept & 1) == 1);
  return ((exponent - 1) << l.mantissa) + kept + select(up, 1, 0);
}

Ex encode(FunctionBuilder& f, const Ex& x, const FloatFormatAttrs& attrs) {
  if (attrs.format == FloatFormat::kF64) return cast(DType::kF64, x);
  if (attrs.format == FloatFormat::kE8m0) return encode_power(f, x, attrs);
  Layout l = layout_of(attrs.format);
  int64_t sign = int64_t{1} << (l.bits - 1);
  Ex bits = f.let("bits", call(Intrinsic::kFloatBits, DType::kI32, {x}));
  Ex any = f.let("any", bits & 0x7fffffff);
  Ex magnitude = f.let("magnitude", min(any, kInfinity));
  Ex code = f.let("code", nearest(f, magnitude, l));
  int64_t nan = l.nan < 0 ? sign : l.nan;  // without one it becomes -0
  bool saturate = attrs.saturate || (l.infinity < 0 && l.nan < 0);
  int64_t beyond = saturate ? l.most : l.infinity >= 0 ? l.infinity : nan;
  Ex finite = f.let("finite", select(code > l.most, beyond, code));
  bool negative_zero = has_negative_zero(attrs.format);
  Ex negative = negative_zero ? bits < 0 : bits < 0 && finite > 0;
  Ex out = select(negative, finite | sign, finite);
  return select(any > kInfinity, nan, out);
}

class FloatConversion : public SpecifiedOperator {
 public:
  FloatConversion(std::string_view name, std::string_view summary, std::vector<TypeEntry> types, ResultSpec result)
      : SpecifiedOperator({.name = name,
                           .summary = summary,
                           .operands = {{.name = "x", .types = std::move(types)}},
                           .results = {std::move(result)},
                           .traits = {.elementwise = true},
                           .attributes = make_attributes<FloatFormatAttrs>}) {}
  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }
};

class FloatDecode final : public FloatConversion {
 public:
  FloatDecode()
      : FloatConversion("float_decode", "floats of other formats as f32",
                        {{DType::kU8, "8 and 4 bits"}, {DType::kU16, "f16, bf16"}, DType::kF64},
                        {.name = "y", .types = {DType::kF32}}) {}
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    return lower_unary(op, "float_decode", [&](FunctionBuilder& f, const Ex& x) {
      return decode(f, x, op.attrs<FloatFormatAttrs>().format);
    });
  }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    return check_type(op, 0, {storage_of(op.attrs<FloatFormatAttrs>().format)}, diags);
  }
};

class FloatEncode final : public FloatConversion {
 public:
  FloatEncode()
      : FloatConversion("float_encode", "f32 as floats of other formats", {DType::kF32},
                        {.name = "y", .type_of = ResultSpec::kOwn}) {}
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    return lower_unary(op, "float_encode",
                       [&](FunctionBuilder& f, const Ex& x) { return encode(f, x, op.attrs<FloatFormatAttrs>()); });
  }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    return check_result_type(op, 0, storage_of(op.attrs<FloatFormatAttrs>().format), diags);
  }
};

class FloatRound final : public FloatConversion {
 public:
  FloatRound()
      : FloatConversion("float_round", "f32 that another format has, the nearest", {DType::kF32}, {.name = "y"}) {}
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const auto& attrs = op.attrs<FloatFormatAttrs>();
    return lower_unary(op, "float_round", [&](FunctionBuilder& f, const Ex& x) {
      return decode(f, f.let("stored", encode(f, x, attrs)), attrs.format);
    });
  }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    return op.attrs<FloatFormatAttrs>().format != FloatFormat::kF64 || bad_attribute(op, diags, "every f32 is an f64");
  }
};

}  // namespace

void add_operators_float_formats(OperatorSet& set) {
  set.add(std::make_unique<FloatDecode>());
  set.add(std::make_unique<FloatEncode>());
  set.add(std::make_unique<FloatRound>());
}

}  // namespace aotc::ops
