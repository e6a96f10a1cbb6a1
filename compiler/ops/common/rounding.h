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

// The rule of a sum or product of two tensors. onnxruntime adds the zero point before it rounds, in float32, so the
// result depends on the type of the model: kOnnxruntimeUint8 computes with the uint8 values, 128 above the stored ones.
enum class PairRounding : uint8_t { kLitert, kOnnxruntime, kOnnxruntimeUint8 };

inline std::span<const std::string_view> enum_names(PairRounding) {
  static constexpr std::array<std::string_view, 3> kNames = {"litert", "onnxruntime", "onnxruntime_uint8"};
  return kNames;
}
// The distance of the model's values from the stored ones.
inline int32_t model_offset(PairRounding rule) { return rule == PairRounding::kOnnxruntimeUint8 ? 128 : 0; }

inline std::span<const std::string_view> enum_names(RoundingRule) {
  static constexpr std::array<std::string_view, 2> kNames = {"litert", "onnxruntime"};
  return kNames;
}

// Rules other than LiteRT's need int8 operands, unless `also` is true. Reports [op-attribute].
template <typename Rule>
bool check_rounding_rule(const OpView& op, Rule rule, Diagnostics& diags, bool also = false) {
  if (rule == Rule::kLitert || op.operand(0).dtype == DType::kI8 || also) return true;
  bad_attribute(op, diags,
                "rounding = onnxruntime needs int8 or int16 activations, or float activations with int8 weights");
  return false;
}

}  // namespace aotc::ops
