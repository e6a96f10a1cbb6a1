// SPDX-License-Identifier: Apache-2.0
// Sigmoid and tanh of 16-bit fixed point numbers, as LiteRT's integer recurrent layers compute them. The
// one thing to know: written once, for values on the host (Number = int32_t) and as TIR (Number = tir::Ex);
// `let` names an intermediate value.
#pragma once

#include <algorithm>
#include <cstdint>

#include "support/numerics.h"
#include "tir/builder.h"

namespace aotc::ops::fixed_point {

inline int32_t select(bool condition, int32_t if_true, int32_t if_false) { return condition ? if_true : if_false; }
inline int32_t min(int32_t a, int32_t b) { return std::min(a, b); }
inline int32_t max(int32_t a, int32_t b) { return std::max(a, b); }
using tir::max;
using tir::min;
using tir::select;

constexpr int32_t kOne = 32767;  // of numbers without integer bits

// The rounded product of two numbers, ties up: of 15 fraction bits, or one with the other's integer bits.
template <typename Number>
Number product(const Number& a, const Number& b) {
  return (a * b + Number(1 << 14)) >> Number(15);
}

// x / 2^by, ties away from zero.
inline int32_t rounding_shift(int32_t x, int by) { return rounding_divide_by_pot(x, by); }
inline tir::Ex rounding_shift(const tir::Ex& x, int by) {
  if (by == 0) return x;
  return (x + select(x < 0, tir::Ex((1 << (by - 1)) - 1), tir::Ex(1 << (by - 1)))) >> by;
}

// exp(a) of a <= 0 with `integer_bits` integer bits, 15 fraction bits: a polynomial around -1/8 for the part
// below 1/4, times exp(-2^k) for each bit k of the rest.
template <typename Number, typename Let>
Number exp_of_negative(const Number& a, int integer_bits, const Let& let) {
  constexpr int32_t kFactors[] = {25520, 19875, 12055, 4435, 600, 11, 0};
  constexpr int32_t kThird = 10923, kExpMinusEighth = 28918;
  const int fraction = 15 - integer_bits;
  const int32_t quarter = 1 << (fraction - 2);
  Number below = let("below", (a & Number(quarter - 1)) - Number(quarter));
  Number x = let("x", below * Number(1 << integer_bits) + Number(1 << 12));
  Number x2 = let("x2", product(x, x));
  Number x3 = let("x3", product(x2, x));
  Number x4 = let("x4", (product(x2, x2) + Number(2)) >> Number(2));  // never below 0
  Number sum = let("sum", product(x4 + x3, Number(kThird)) + x2);
  Number tail = let("tail", rounding_shift(sum, 1));
  Number result = let("near", min(product(Number(kExpMinusEighth), x + tail) + Number(kExpMinusEighth), Number(kOne)));
  Number rest = let("rest", below - a);
  for (int k = -2; k < integer_bits && k <= 4; ++k)
    result = let("result", select((rest & Number(1 << (fraction + k))) != Number(0),
                                  product(result, Number(kFactors[k + 2])), result));
  if (integer_bits > 5) result = select(a < Number(-(32 << fraction)), Number(0), result);
  return let("e", select(a == Number(0), Number(kOne), result));
}

// 1 / (1 + x), of x between 0 and 1: two integer bits, three steps of Newton's method. The first error is within
// 1/16 and later ones are smaller, so that nothing saturates.
template <typename Number, typename Let>
Number reciprocal_of_one_plus(const Number& x, const Let& let) {
  Number half = let("half", (x + Number(kOne + 1)) >> Number(1));
  Number guess = let("guess", product(half, Number(-15420)) + Number(23130));
  for (int step = 0; step < 3; ++step) {
    Number error = let("error", Number(1 << 13) - product(half, guess));
    guess = let("guess", guess + product(guess, error) * Number(4));
  }
  return guess;
}

// Of a number with `integer_bits` integer bits.
template <typename Number, typename Let>
Number sigmoid(const Number& a, int integer_bits, const Let& let) {
  Number negative = let("negative", select(a > Number(0), Number(0) - a, a));
  Number twice = reciprocal_of_one_plus(exp_of_negative(negative, integer_bits, let), let);
  Number positive = let("positive", min(twice * Number(2), Number(kOne)));
  return let("sigmoid",
             select(a == Number(0), Number(1 << 14), select(a > Number(0), positive, Number(kOne) - positive)));
}

template <typename Number, typename Let>
Number tanh(const Number& a, int integer_bits, const Let& let) {
  Number negative = let("negative", select(a < Number(0), a, Number(0) - a));
  Number reciprocal = reciprocal_of_one_plus(exp_of_negative(negative, integer_bits + 1, let), let);
  Number positive = let("positive", min((reciprocal - Number(1 << 13)) * Number(4), Number(kOne)));
  return let("tanh", select(a == Number(0), Number(0), select(a < Number(0), Number(0) - positive, positive)));
}

}  // namespace aotc::ops::fixed_point
