// SPDX-License-Identifier: Apache-2.0
// Products of activations with weights that are computed when the model runs, as in attention: checks, and how
// sums begin, grow and become results. The one thing to know: nothing is known of the weights, so what a sum can
// reach follows from the number of its terms, and zero points are subtracted as elements are loaded.
#pragma once

#include <optional>

#include "ops/common/activation.h"
#include "ops/common/requantize.h"
#include "ops/common/wide_requantize.h"
#include "ops/operator.h"

namespace aotc::ops {

// Operands (input, weights, optional bias), as of the operator with constant weights.
struct ComputedWeights {
  int64_t channels = 1;  // along axis 0 of the weights
  int64_t terms = 1;     // products in a sum, at most
  Activation activation = Activation::kNone;
  Rounding rounding = Rounding::kDouble;
  WideRounding wide_rounding = WideRounding::kOnce;
  bool float_products = true;  // conv_scales
  bool weights_zero_point = false;
  bool bias_zero_point = false;
};

bool verify_computed_weights(const OpView& op, const ComputedWeights& what, Diagnostics& diags);

// Use: construct with all operands declared, begin() at the top of the function.
class ComputedSums {
 public:
  ComputedSums(const OpView& op, LoweringBuilder& f, const ComputedWeights& what);

  void begin();
  // What the sum of channel `c` starts from.
  tir::Ex start(const tir::Ex& c) const;
  tir::Ex input(const tir::Ex& at) const;
  tir::Ex weight(const tir::Ex& at) const;
  // The result of a sum.
  tir::Ex finish(const tir::Ex& sum, const tir::Ex& c) const;
  const tir::BufferPtr& result() const { return out_; }
  std::string form() const;

 private:
  const OpView& op_;
  LoweringBuilder& f_;
  Activation activation_;
  bool is_float_;
  tir::BufferPtr in_, weights_, bias_, out_;
  std::optional<Requantizer> requantizer_;
  std::optional<WideRequantizer> wide_;  // int16
  tir::Ex zero_;                         // in the type of sums
};

}  // namespace aotc::ops
