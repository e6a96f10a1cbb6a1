// SPDX-License-Identifier: Apache-2.0
// Sigmoid and tanh of 16-bit fixed point numbers (ops/recurrent/fixed_point.h), described once for all instruction
// sets. A machine builds the instructions of one set. Its operations are those that each set does in one to three
// instructions; products are rounded, with 15 fraction bits.
//
// The description differs from the reference in three places; unit tests compare all 65,536 inputs:
// - The bits of `rest`, which select factors, are the inverted bits of the input above a quarter.
// - No product exceeds 32767, so only tanh saturates.
// - Values at 0 are set last, and the reference's exp of 0 is never used.
#pragma once

#include <cstdint>

namespace aotc::cores::arm {

// exp(n) of n < 0 with `integer_bits` integer bits.
template <typename M>
typename M::Value exp_of_negative(M& m, typename M::Value n, int integer_bits) {
  constexpr int kFactors[] = {25520, 19875, 12055, 4435, 600, 11, 0};
  constexpr int kThird = 10923, kExpMinusEighth = 28918, kEighth = 4096;
  const int fraction = 15 - integer_bits;
  const auto x = m.shifted_minus(m.low_bits(n, fraction - 2), integer_bits, kEighth);
  const auto x2 = m.product(x, x);
  const auto x3 = m.product(x2, x);
  const auto sum = m.plus_product_with(x2, m.plus_quarter_square(x3, x2), kThird);
  auto near = m.product_plus(m.plus_rounded_half(x, sum), kExpMinusEighth, kExpMinusEighth);
  for (int k = -2; k < integer_bits && k <= 4; k += 2) {
    const bool two = k + 1 < integer_bits && k + 1 <= 4;
    near = two ? m.products_if_clear(near, n, fraction + k, kFactors[k + 2], kFactors[k + 3])
               : m.product_if_clear(near, n, fraction + k, kFactors[k + 2]);
  }
  return integer_bits > 5 ? m.zero_if_less(near, n, -(32 << fraction)) : near;
}

// 1 / (1 + x) of x from 0 to 1, with two integer bits: three steps of Newton's method.
template <typename M>
typename M::Value reciprocal_of_one_plus(M& m, typename M::Value x) {
  constexpr int kOne = 1 << 13;
  const auto half = m.half_of_one_plus(x);
  auto guess = m.product_plus(half, -15420, 23130);
  for (int step = 0; step < 3; ++step) {
    const auto error = m.minus_product(kOne, half, guess);
    guess = m.plus_four_products(guess, error);
  }
  return guess;
}

template <typename M>
typename M::Value sigmoid(M& m, typename M::Value a, int integer_bits) {
  const auto n = m.minus_magnitude(a);
  return m.sigmoid_of(reciprocal_of_one_plus(m, exp_of_negative(m, n, integer_bits)), a);
}

template <typename M>
typename M::Value tanh(M& m, typename M::Value a, int integer_bits) {
  const auto n = m.minus_magnitude(a);
  return m.tanh_of(reciprocal_of_one_plus(m, exp_of_negative(m, n, integer_bits + 1)), a);
}

}  // namespace aotc::cores::arm
