// SPDX-License-Identifier: Apache-2.0
// Fused activation functions: the enum, its text names, and the clamp range each means.
#pragma once

#include <span>
#include <string_view>

#include "graph/graph.h"
#include "tir/builder.h"

namespace aotc::ops {

// kUnbounded: none, and infinities of floats stay, which LiteRT's operators bound.
enum class Activation : uint8_t { kNone, kRelu, kRelu6, kReluN1To1, kUnbounded };
std::span<const std::string_view> enum_names(Activation);

struct ClampI32 {
  int32_t min;
  int32_t max;
};
// Quantised values an activation leaves for an output of type `out` (int8, uint8 or int16).
ClampI32 quantized_clamp(Activation activation, const graph::TensorType& out);

struct ClampF32 {
  float min;
  float max;
};
// lowest() and max() where an activation does not bound.
ClampF32 float_clamp(Activation activation);

// v < lo ? lo : v, then hi < v ? hi : v, as the reference: NaN passes, -0.0 passes a bound of 0, and
// without an activation infinities become the largest finite values. Infinite sides are left out.
tir::Ex emit_clamp(const tir::Ex& v, ClampF32 range);

}  // namespace aotc::ops
