// SPDX-License-Identifier: Apache-2.0
// What operators share that compute each result element from one element of each operand: access to
// integers of any width, the reference's float clamp, and flat loops. The one thing to know: the float clamp is written
// as comparisons in the reference's order, so that NaN and -0 come out as they do there.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "ops/common/activation.h"
#include "ops/operator.h"
#include "support/numerics.h"

namespace aotc::ops {

// Elements of any integer type (or bool) as int64, and back; values given to `narrow` must fit.
std::vector<int64_t> widen(DType type, std::span<const uint8_t> bytes);
void narrow(DType type, const std::vector<int64_t>& values, std::span<uint8_t> bytes);

inline bool is_byte(DType type) { return type == DType::kI8 || type == DType::kU8; }

// v < lo ? lo : v, then hi < v ? hi : v: emit_clamp on the host.
inline float bound(float v, ClampF32 range) {
  if (v < range.min) v = range.min;
  return range.max < v ? range.max : v;
}

// min(max(v, lo), hi) of i32, without the sides that the values [least, most] of v cannot reach.
tir::Ex emit_bound(const tir::Ex& v, ClampI32 range, int64_t least = INT32_MIN, int64_t most = INT32_MAX);

// Is `real` a multiplier that can be applied to integers up to `largest` in 32 bits: not negative,
// finite, and the left shift it asks for keeps `largest` inside? Reports [op-quantization].
bool check_multiplier(const OpView& op, double real, int64_t largest, Diagnostics& diags);

// out[i] = element(in[i]) for all i.
Lowered lower_unary(const OpView& op, const std::string& name,
                    const std::function<tir::Ex(tir::FunctionBuilder&, const tir::Ex&)>& element);

template <typename F>
void evaluate_unary_float(const EvalData& data, F element) {
  auto in = data.in<float>(0);
  auto out = data.out<float>();
  for (size_t i = 0; i < in.size(); ++i) out[i] = element(in[i]);
}

// Integer to integer, values as the widened operand's.
void evaluate_unary_int(const OpView& op, const EvalData& data, const std::function<int64_t(int64_t)>& element);

}  // namespace aotc::ops
