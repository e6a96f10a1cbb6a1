// SPDX-License-Identifier: Apache-2.0
// softmax over the last axis. int16 is in int16.h; int8 follows the reference's fixed point arithmetic: an exponential
// of the distance to the row's largest element, of which there are 256, and one Newton reciprocal
// per row. By onnxruntime's rule the 256 exponentials, their sum and the quotient are of float32.
#pragma once

#include <vector>

#include "ops/common/rounding.h"
#include "ops/operator.h"

namespace aotc::ops {

struct SoftmaxAttrs : graph::Attributes<SoftmaxAttrs> {
  float beta = 1.0f;
  RoundingRule rounding = RoundingRule::kLitert;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("beta", self.beta);
    field("rounding", self.rounding);
  }
};

// exp(-d * scale * beta) in Q0 for distances d = 0, 1, ... up to 255; 0 where the reference does
// not count an element. Trailing zeros are one zero: distances beyond the end are the last entry.
std::vector<int32_t> softmax_exponentials(const OpView& op);

// By onnxruntime's rule: exp of the distance, 255 less the index, scaled up so far that a row's sum just fits float32.
std::vector<float> even_exponentials(const OpView& op);
// What quotients are multiplied by before they are rounded: whole.
float even_units(const OpView& op);

// int8 becomes int16: the same arithmetic, eight bits more of the quotient.
inline bool wide_result(const OpView& op) {
  return op.operand(0).dtype == DType::kI8 && op.result().dtype == DType::kI16;
}

// Rows longer than this could leave 32 bits in the sum.
constexpr int64_t kLongestSoftmaxRow = 4095;

Lowered lower_softmax(const OpView& op);

}  // namespace aotc::ops
