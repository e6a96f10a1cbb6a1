// SPDX-License-Identifier: Apache-2.0
// Products of two int8 values, scaled, with one rounding where the reference has another. Tries all pairs of values, so
// it is here and not with its operator: this folder is compiled to be fast.
#pragma once

#include <cstdint>
#include <optional>

#include "ops/common/affine.h"
#include "ops/common/requantize.h"

namespace aotc::ops {

// onnxruntime's result for a product: float32, the zero point added before it is rounded, ties to even. Zero point,
// bounds and results are of int8; float32 rounds otherwise where the model's values are uint8, `up` above them.
struct EvenProduct {
  float real;
  int32_t zero_point, up;
  ClampI32 clamp;
  int64_t operator()(int64_t product) const;
  // In the model's type.
  float zero() const { return static_cast<float>(zero_point + up); }
  float least() const { return static_cast<float>(clamp.min + up); }
  float most() const { return static_cast<float>(clamp.max + up); }
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
// reference rounds twice, so the plain offset of one half may not do. Spends what it tries (PairBudget), whatever is
// left.
std::optional<ProductForm> fit_product(const ProductZeros& zeros, ClampI32 clamp, QuantizedMultiplier m,
                                       const EvenProduct& wanted);
std::optional<ProductForm> fit_product(const ProductZeros& zeros, ClampI32 clamp, QuantizedMultiplier m,
                                       const RoundedTwice& wanted);

}  // namespace aotc::ops
