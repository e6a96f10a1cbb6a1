// SPDX-License-Identifier: Apache-2.0
// Products of two int8 values, scaled, with one rounding where the reference has another. Tries all pairs of values, so it is
// here and not with its operator: this folder is compiled to be fast.
#pragma once

#include <cstdint>
#include <optional>

#include "ops/common/affine.h"
#include "ops/common/requantize.h"

namespace aotc::ops {

// onnxruntime's result for a product: float32, the zero point added before it is rounded, ties to even.
struct EvenProduct {
  float real, zero;
  ClampI32 clamp;
  int64_t operator()(int64_t product) const;
};

// clamp((product * multiplier + (offset << (shift - kOffsetBits))) >> shift).
struct ProductForm {
  static constexpr int kOffsetBits = 23;
  int32_t multiplier, offset;
  int shift;
};

// Zero points of the two operands.
struct ProductZeros {
  int64_t a, b;
};

// The form if there is an offset with which it gives the reference's result for every product of two stored values: the
// reference rounds twice, so the plain offset of one half may not do. Spends what it tries (PairBudget), whatever is left.
std::optional<ProductForm> fit_product(const ProductZeros& zeros, ClampI32 clamp, QuantizedMultiplier m, const EvenProduct& wanted);
std::optional<ProductForm> fit_product(const ProductZeros& zeros, ClampI32 clamp, QuantizedMultiplier m, const RoundedTwice& wanted);

}  // namespace aotc::ops
