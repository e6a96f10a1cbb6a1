// SPDX-License-Identifier: Apache-2.0
#include "ops/common/real_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/common/elementwise.h"

namespace aotc::ops {

bool check_inverse_scale(const OpView& op, Diagnostics& diags) {
  if (std::isfinite(1.0f / op.result().scale())) return true;
  diags.error(op.where(), "op-quantization",
              fmt::format("result scale {:g} of {} has no float32 inverse", op.result().scale(), op.op.name()));
  return false;
}

ByteFunction quantized_function(const OpView& op, float (*function)(float)) {
  float scale_in = op.operand(0).scale(), inverse = 1.0f / op.result().scale();
  int64_t zero_in = op.operand(0).zero_point();
  auto zero_out = static_cast<float>(op.result().zero_point());
  return [=](int64_t x) {
    // Every step in float32, rounded on its own.
    float real = scale_in * static_cast<float>(x - zero_in);
    float scaled = function(real) * inverse;
    float stored = std::round(scaled) + zero_out;
    return static_cast<int64_t>(std::clamp(stored, -128.0f, 127.0f));
  };
}

}  // namespace aotc::ops
