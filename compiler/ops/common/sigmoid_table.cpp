// SPDX-License-Identifier: Apache-2.0
#include "ops/common/sigmoid_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "ops/common/elementwise.h"
#include "ops/common/fixed_scale.h"
#include "ops/common/real_table.h"

namespace aotc::ops {

using tir::Ex;

namespace {

constexpr int64_t kEntries = 256;

// sigmoid(i / 24) with 16 fractional bits; the reference's table is one above the rounded value in some
// places.
std::vector<uint16_t> sigmoids() {
  constexpr std::array<uint8_t, 44> kOneMore = {4,  8,  12, 14, 15, 16, 17, 19, 20,  21,  22,  25,  27,  28, 29,
                                                30, 31, 33, 34, 35, 37, 39, 40, 41,  43,  44,  45,  46,  49, 50,
                                                54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255};
  std::vector<uint16_t> out;
  for (int64_t i = 0; i < kEntries; ++i)
    out.push_back(static_cast<uint16_t>(std::lround(65536.0 / (1.0 + std::exp(static_cast<double>(-i) / 24.0)))));
  for (uint8_t i : kOneMore) ++out[i];
  return out;
}

// x * factor, rounded and shifted: stored values in units of 1 / (3 * 4096).
struct Argument {
  int32_t factor = 0;
  int right = 0;

  Argument(const OpView& op, Sigmoid kind) {
    double scale = static_cast<double>(op.operand(0).scale());
    std::optional<int> log2 = whole_log2(op.operand(0).scale());
    int exponent = log2.value_or(0) + 12;
    if (log2 && (exponent == 0 || (exponent == 1 && kind == Sigmoid::kTanh))) {
      factor = 3 << exponent;
      return;
    }
    double real = scale * 4096.0 * 3.0;
    for (; real <= 32767.0 / 2.0 && right <= 30; ++right) real *= 2.0;
    factor = static_cast<int32_t>(std::min(real, 2147483647.0));
  }

  int32_t half() const { return right > 0 ? int32_t{1} << (right - 1) : 0; }
  bool defined() const { return factor > 0 && int64_t{factor} * 32768 + half() < int64_t{1} << 31; }
};

// Fractional bits of the place in the table.
int fraction(Sigmoid kind) { return kind == Sigmoid::kLogistic ? 9 : 8; }

}  // namespace

Signature sigmoid_signature(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .operands =
              {{.name = "x",
                .types = {DType::kI8, DType::kU8, {DType::kI16, "result scale 1/32768, zero points 0"}, DType::kF32}}},
          .results = {{.name = "y"}},
          .quantized = Quantized::kSymmetric,
          .uint8 = Uint8::kShifted,
          .traits = {.elementwise = true, .uses_libm = true}};
}

bool check_sigmoid(const OpView& op, Sigmoid kind, Diagnostics& diags) {
  if (op.operand(0).dtype != DType::kI16) return op.operand(0).dtype == DType::kF32 || check_inverse_scale(op, diags);
  auto fail = [&](const std::string& why) {
    diags.error(op.where(), "op-quantization", why);
    return false;
  };
  std::optional<int> result = whole_log2(op.result().scale());
  bool exact = kind == Sigmoid::kTanh || op.result().scale() == 0x1p-15f;
  if (result != -15 || !exact)
    return fail(fmt::format("the result of {} has scale {:g}; int16 takes 1/32768", op.op.name(), op.result().scale()));
  if (Argument(op, kind).defined()) return true;
  return fail(fmt::format("the scale {:g} of {}'s operand takes it out of the reference's 32 bits",
                          op.operand(0).scale(), op.op.name()));
}

std::function<int64_t(int64_t)> sigmoid_function(const OpView& op, Sigmoid kind) {
  return [table = sigmoids(), argument = Argument(op, kind), kind](int64_t stored) -> int64_t {
    int64_t x = (stored * argument.factor + argument.half()) >> argument.right;
    int bits = fraction(kind);
    int64_t magnitude = std::abs(x), index = magnitude >> bits;
    int64_t y = (kind == Sigmoid::kLogistic ? int64_t{0xFFFE} : int64_t{0xFFFF}) << bits;
    if (index < kEntries - 1) {
      int64_t low = table[static_cast<size_t>(index)], high = table[static_cast<size_t>(index) + 1];
      y = (low << bits) + (magnitude & ((1 << bits) - 1)) * (high - low);
    }
    if (kind == Sigmoid::kLogistic) return (x >= 0 ? y + (1 << 9) : (1 << 25) - y + (1 << 9) - 1) >> 10;
    return (x >= 0 ? y - (1 << 23) + (1 << 7) : (1 << 23) - y + (1 << 7) - 1) >> 8;
  };
}

SigmoidCurve::SigmoidCurve(LoweringBuilder& f) : table_(f.constant("sigmoids", DType::kU16, sigmoids(), 2)) {}

Ex SigmoidCurve::emit(tir::FunctionBuilder& f, const Ex& x, Sigmoid kind) const {
  const int bits = fraction(kind);
  Ex magnitude = f.let("magnitude", max(x, -x));
  Ex index = f.let("index", magnitude >> bits);
  Ex y = f.var("y", Ex((kind == Sigmoid::kLogistic ? 0xFFFE : 0xFFFF) << bits));
  f.if_(index < kEntries - 1, [&] {
    Ex low = f.let("low", load(table_, index));
    Ex rest = magnitude & ((1 << bits) - 1);
    f.assign(y, (low << bits) + rest * (load(table_, index + 1) - low));
  });
  int one = kind == Sigmoid::kLogistic ? 1 << 24 : 1 << 23;  // one half, in which the two are odd
  Ex odd = f.let("odd", select(x >= 0, y - one, Ex(one) - y - 1));
  return kind == Sigmoid::kLogistic ? (odd + (one + (1 << 9))) >> 10 : (odd + (1 << 7)) >> 8;
}

Lowered lower_sigmoid(const OpView& op, const std::string& name, Sigmoid kind) {
  LoweringBuilder f(op, name);
  tir::BufferPtr in = f.operand(0);
  SigmoidCurve curve(f);
  Argument argument(op, kind);
  tir::BufferPtr parameters =
      f.constant<int32_t>("parameters", DType::kI32, {argument.factor, argument.half(), argument.right});
  Ex factor = f.let("factor", load(parameters, 0)), half = f.let("half", load(parameters, 1));
  Ex right = f.let("right", load(parameters, 2));
  tir::BufferPtr out = f.result();
  f.loop("i", 0, op.result().elements(), [&](const Ex& i) {
    Ex x = f.let("x", (load(in, i) * factor + half) >> right);
    f.store(out, i, curve.emit(f, x, kind));
  });
  f.publish_in_place(0);
  return f.finish("table of 256 sigmoids");
}

}  // namespace aotc::ops
