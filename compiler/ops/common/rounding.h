// SPDX-License-Identifier: Apache-2.0
// Whose arithmetic a quantised operator has. The one thing to know: the same scales give other
// results by another rule, so it is an attribute of the operator and nothing that a target chooses.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "ops/common/checks.h"

namespace aotc::ops {

// kLitert: TensorFlow Lite's reference kernels. kOnnxruntime: float32 throughout, ties to even.
enum class RoundingRule : uint8_t { kLitert, kOnnxruntime };

inline std::span<const std::string_view> enum_names(RoundingRule) {
  static constexpr std::array<std::string_view, 2> kNames = {"litert", "onnxruntime"};
  return kNames;
}

// Rules but LiteRT's are for int8. Reports [op-attribute].
inline bool check_rounding_rule(const OpView& op, RoundingRule rule, Diagnostics& diags) {
  if (rule == RoundingRule::kLitert || op.operand(0).dtype == DType::kI8) return true;
  bad_attribute(op, diags, "rounding = onnxruntime is for int8");
  return false;
}

}  // namespace aotc::ops
