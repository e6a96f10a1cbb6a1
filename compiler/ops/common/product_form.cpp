// SPDX-License-Identifier: Apache-2.0
#include "ops/common/product_form.h"

#include <algorithm>
#include <cmath>

#include "ops/common/pair_budget.h"

namespace aotc::ops {

namespace {

template <typename Wanted>
std::optional<ProductForm> fit(const ProductZeros& zeros, ClampI32 clamp, QuantizedMultiplier m, const Wanted& wanted) {
  int shift = 31 - m.shift;
  if (m.multiplier == 0 || shift < 31 || shift > 54) return std::nullopt;
  PairBudget::spend(65536);
  const int64_t one = int64_t{1} << shift, widest = 129 * one;
  int64_t least = -widest, most = widest;
  for (int64_t q = -128; q < 128; ++q) {
    const int64_t a = q - zeros.a;
    int64_t product = a * (-128 - zeros.b);
    // Without branches: this is most of what a MUL takes to compile.
    for (int b = 0; b < 256; ++b, product += a) {
      const int64_t value = wanted(product), floor = value * one - product * m.multiplier;
      // A value at a bound may lie beyond it; the clamp brings it back.
      least = std::max(least, value > clamp.min ? floor : -widest);
      most = std::min(most, value < clamp.max ? floor + one - 1 : widest);
    }
  }
  int64_t unit = int64_t{1} << (shift - ProductForm::kOffsetBits);
  int64_t first = (least + unit - 1) >> (shift - ProductForm::kOffsetBits);
  int64_t last = most >> (shift - ProductForm::kOffsetBits);
  if (first > last) return std::nullopt;
  return ProductForm{m.multiplier, static_cast<int32_t>(first + (last - first) / 2), shift};
}

}  // namespace

int64_t EvenProduct::operator()(int64_t product) const {
  // The product has 16 bits; two statements, so that nothing fuses them.
  volatile float scaled = static_cast<float>(product) * real;
  float y = std::clamp(scaled + zero(), least(), most());
  return static_cast<int64_t>(std::nearbyint(y)) - up;
}

std::optional<ProductForm> fit_product(const ProductZeros& zeros, ClampI32 clamp, QuantizedMultiplier m,
                                       const EvenProduct& wanted) {
  return fit(zeros, clamp, m, wanted);
}
std::optional<ProductForm> fit_product(const ProductZeros& zeros, ClampI32 clamp, QuantizedMultiplier m,
                                       const RoundedTwice& wanted) {
  return fit(zeros, clamp, m, wanted);
}

}  // namespace aotc::ops
