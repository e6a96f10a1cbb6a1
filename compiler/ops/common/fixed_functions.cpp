// SPDX-License-Identifier: Apache-2.0
#include "ops/common/fixed_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/numerics.h"

namespace aotc::ops {

using tir::Ex;
using tir::i64;

namespace {

constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
constexpr int32_t kReciprocalConstant = 1515870810;  // 48/17 in Q2
constexpr int32_t kReciprocalSlope = -1010580540;    // -32/17 in Q2
constexpr int kReciprocalSteps = 3;

int32_t high_mul(int32_t a, int32_t b) { return saturating_rounding_doubling_high_mul(a, b); }

// exp(x) in Q0 of x <= 0 in Q5: a polynomial around -1/8 for the part below 1/4, times
// exp(-2^k) for every bit k = -2 .. 4 of the rest.
int32_t exp_q5(int32_t x) {
  if (x == 0) return kMax;
  constexpr int32_t kQuarter = 1 << 24;
  constexpr int32_t kOneThird = 715827883;
  constexpr int32_t kExpMinusEighth = 1895147668;
  constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  int32_t remainder = (x & (kQuarter - 1)) - kQuarter;
  // The remainder is in [-1/4, 0), so nothing here saturates.
  int32_t a = remainder * 32 + (1 << 28);
  int32_t a2 = high_mul(a, a);
  int32_t a3 = high_mul(a2, a), a4 = high_mul(a2, a2);
  int32_t inner = high_mul(rounding_divide_by_pot(a4, 2) + a3, kOneThird) + a2;
  int32_t tail = rounding_divide_by_pot(inner, 1);
  int32_t result = kExpMinusEighth + high_mul(kExpMinusEighth, a + tail);
  int32_t bits = remainder - x;
  for (int k = 0; k < 7; ++k)
    if (bits & (1 << (24 + k))) result = high_mul(result, kFactors[k]);
  return result;
}

}  // namespace

std::vector<int32_t> scaled_distances(double scale) {
  QuantizedMultiplier m = quantize_multiplier(std::min(scale * std::ldexp(1.0, 26), 2147483647.0));
  // The largest distance whose exponent, left shifted, stays within Q5.
  double most = std::floor(31.0 * std::ldexp(1.0, 26 - m.shift));
  std::vector<int32_t> out;
  for (int d = 0; d <= std::min(most, 255.0); ++d) out.push_back(multiply_by_quantized_multiplier(-d, m));
  return out;
}

std::vector<int32_t> exponentials(double scale) {
  std::vector<int32_t> out = scaled_distances(scale);
  for (int32_t& v : out) v = exp_q5(v);
  if (out.size() < 256) out.push_back(0);
  return out;
}

int32_t fixed_reciprocal(int32_t half_sum) {
  int32_t guess = kReciprocalConstant + high_mul(half_sum, kReciprocalSlope);
  for (int i = 0; i < kReciprocalSteps; ++i) {
    int32_t error = (1 << 29) - high_mul(half_sum, guess);
    guess += high_mul(guess, error) * 4;
  }
  return guess >= 1 << 30 ? kMax : guess * 2;
}

Ex emit_high_mul(const Ex& a, const Ex& b) {
  Ex product = cast(DType::kI64, a) * cast(DType::kI64, b);
  return cast(DType::kI32, (product + i64(int64_t{1} << 30)) >> i64(31));
}

Ex emit_reciprocal(tir::FunctionBuilder& f, const Ex& half_sum) {
  Ex guess = f.var("guess", emit_high_mul(half_sum, Ex(kReciprocalSlope)) + kReciprocalConstant);
  f.loop("step", 0, kReciprocalSteps, [&](Ex) {
    Ex error = f.let("error", Ex(1 << 29) - emit_high_mul(half_sum, guess));
    f.assign(guess, guess + emit_high_mul(guess, error) * 4);
  });
  return select(guess >= (1 << 30), Ex(kMax), min(guess, (1 << 30) - 1) * 2);
}

Ex emit_rounding_shift(const Ex& x, int by) {
  Ex wide = cast(DType::kI64, x);
  Ex half = i64(int64_t{1} << (by - 1)) - cast(DType::kI64, x < 0);
  return cast(DType::kI32, (wide + half) >> i64(by));
}

Ex emit_saturating_shift(const Ex& x, const Ex& by) {
  Ex wide = shl_wrapping(cast(DType::kI64, x), cast(DType::kI64, by));  // of what may be below 0
  return cast(DType::kI32, clamp(wide, i64(std::numeric_limits<int32_t>::min()), i64(kMax)));
}

namespace {

void emit_newton_root(tir::FunctionBuilder& f, const Ex& value, const Ex& multiplier, const Ex& shift) {
  // To [2^27, 2^29) by pairs of bits.
  f.assign(shift, 11);
  f.if_(value >= (1 << 29), [&] {
    f.assign(value, value >> 2);
    f.assign(shift, shift + 1);
  });
  for (int pairs : {8, 4, 2, 1})
    f.if_(value < (int64_t{1} << (29 - 2 * pairs)), [&] {
      f.assign(value, value << (2 * pairs));
      f.assign(shift, shift - pairs);
    });
  Ex input = f.let("input", value >> 1), half = f.let("half_input", emit_rounding_shift(input, 1));
  Ex x = f.var("guess", Ex(1 << 28));  // Q3
  f.loop("step", 0, 5, [&](Ex) {
    Ex cube = f.let("cube", emit_saturating_shift(emit_high_mul(emit_high_mul(x, x), x), 6));
    Ex next = emit_high_mul(Ex((1 << 28) + (1 << 27)), x) - emit_high_mul(half, cube);
    f.assign(x, emit_saturating_shift(next, 3));
  });
  f.assign(multiplier, emit_high_mul(x, Ex(1518500250)));  // by sqrt(1/2)
  f.if_(shift < 0, [&] {
    f.assign(multiplier, shl_wrapping(multiplier, -shift));
    f.assign(shift, 0);
  });
}

}  // namespace

InverseRoot emit_inverse_root(tir::FunctionBuilder& f, const Ex& value) {
  Ex multiplier = f.var("inverse", Ex(kMax)), shift = f.var("shift", Ex(0));
  f.if_(value > 1, [&] { emit_newton_root(f, value, multiplier, shift); });
  return {multiplier, shift};
}

}  // namespace aotc::ops
