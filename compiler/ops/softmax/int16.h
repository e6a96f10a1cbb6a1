// SPDX-License-Identifier: Apache-2.0
// softmax of int16. By the rule of LiteRT, exp and 1 / (1 + x) are tables of 513 entries with linear interpolation.
// Only one multiplier depends on the model, so all such layers share their tables.
#pragma once

#include <span>
#include <vector>

#include "ops/operator.h"
#include "support/numerics.h"

namespace aotc::ops {

struct SoftmaxTables {
  std::vector<int16_t> exponential;  // of -10 .. 0
  std::vector<int16_t> inverse;      // 1 / (1 + x) of 0 .. 1
};
const SoftmaxTables& softmax_tables();

// Brings distances to the row's largest element to 10 / 65535.
double softmax_distance_scale(const OpView& op);
// Rows longer than this could leave 32 bits in the sum.
constexpr int64_t kLongestSoftmaxRow16 = 65535;

// By onnxruntime's rule, whose floats are exact to about a thousandth of a step: the exponential of a distance d to the
// row's largest element is (high[d >> 8] * low[d & 255] + 2^29) >> 30, of at most 2^30. With the row's sum of these,
// a result is (exponential * inverse + 2^(shift - 1)) >> shift, where inverse = (units + sum / 2) / sum.
struct FineSoftmax {
  std::vector<int32_t> high, low;
  int64_t units;
  int shift;

  explicit FineSoftmax(const OpView& op);
};
// Scales of the result for which FineSoftmax fits in 64 bits.
constexpr float kLeastFineScale = 0x1p-20f, kMostFineScale = 1.0f;
void softmax_row(std::span<const int16_t> in, std::span<int16_t> out, const FineSoftmax& how, int32_t zero_point);

void softmax_row(std::span<const int16_t> in, std::span<int16_t> out, QuantizedMultiplier distance);
Lowered lower_softmax_int16(const OpView& op);

}  // namespace aotc::ops
