// SPDX-License-Identifier: Apache-2.0
#include "ops/common/activation_checks.h"

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/conv.h"

namespace aotc::ops {

bool check_activation_bounds(const OpView& op, Activation activation, Diagnostics& diags) {
  if (gives_sums(op) && activation != Activation::kNone && activation != Activation::kUnbounded)
    return bad_attribute(op, diags, "results without a scale cannot be clamped by an activation");
  bool bounded = activation == Activation::kRelu6 || activation == Activation::kReluN1To1;
  bool quantized = op.result().dtype == DType::kI8 || op.result().dtype == DType::kI16;
  if (!bounded || !quantized || !op.result().quantization.present()) return true;
  double largest = activation == Activation::kRelu6 ? 6 : 1;
  // The zero point is added in 32 bits as well.
  if (largest / static_cast<double>(op.result().scale()) < 2147483648.0 - 256) return true;
  diags
      .error(op.where(), "op-quantization",
             fmt::format("the result of {} has scale {:g}, in units of which its activation's bound "
                         "{} is no number of 32 bits",
                         op.op.name(), op.result().scale(), largest))
      .help("re-quantise the model; a scale this small is a calibration mistake");
  return false;
}

}  // namespace aotc::ops
