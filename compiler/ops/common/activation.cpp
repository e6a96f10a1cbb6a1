// SPDX-License-Identifier: Apache-2.0
#include "ops/common/activation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace aotc::ops {

std::span<const std::string_view> enum_names(Activation) {
  static constexpr std::string_view kNames[] = {"none", "relu", "relu6", "relu_n1_to_1", "unbounded"};
  return kNames;
}

ClampI32 quantized_clamp(Activation activation, const graph::TensorType& out) {
  IntRange range = int_range(out.dtype);
  auto lo = static_cast<int32_t>(range.min);
  auto hi = static_cast<int32_t>(range.max);
  auto quantize = [&](float real) {
    // Saturates before the conversion: tiny scales give quotients beyond int32.
    double q = static_cast<double>(std::round(real / out.scale())) + out.zero_point();
    return static_cast<int32_t>(std::clamp(q, -2147483648.0, 2147483647.0));
  };
  switch (activation) {
    case Activation::kUnbounded:
    case Activation::kNone: return {lo, hi};
    case Activation::kRelu: return {std::max(lo, quantize(0.0f)), hi};
    case Activation::kRelu6: return {std::max(lo, quantize(0.0f)), std::min(hi, quantize(6.0f))};
    case Activation::kReluN1To1: return {std::max(lo, quantize(-1.0f)), std::min(hi, quantize(1.0f))};
  }
  return {lo, hi};
}

ClampF32 float_clamp(Activation activation) {
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  constexpr float kMax = std::numeric_limits<float>::max();
  switch (activation) {
    case Activation::kNone: return {kLowest, kMax};
    case Activation::kRelu: return {0.0f, kMax};
    case Activation::kRelu6: return {0.0f, 6.0f};
    case Activation::kReluN1To1: return {-1.0f, 1.0f};
    case Activation::kUnbounded:
      return {-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()};
  }
  return {kLowest, kMax};
}

tir::Ex emit_clamp(const tir::Ex& v, ClampF32 range) {
  tir::Ex out = v;
  // max(a, b) is a > b ? a : b: with the bound first, NaN and an equal zero pass.
  if (!std::isinf(range.min)) out = max(tir::f32(range.min), out);
  if (!std::isinf(range.max)) out = min(tir::f32(range.max), out);
  return out;
}

}  // namespace aotc::ops
