// SPDX-License-Identifier: Apache-2.0
// logistic and tanh of int16: both are read from one table of 256 sigmoids, between which a straight
// line is drawn. The one thing to know: stored values are first brought to units of 1 / (3 * 4096) by an
// integer factor, whose product has 32 bits, so that scales from 5.33 on are not defined.
#pragma once

#include <functional>
#include <string>

#include "ops/signature.h"

namespace aotc::ops {

enum class Sigmoid { kLogistic, kTanh };

// Of logistic and tanh.
Signature sigmoid_signature(std::string_view name, std::string_view summary);
// Of int16: result scale 2^-15 and zero points 0, and a scale that is defined; of int8: a scale with an inverse.
// Reports [op-quantization].
bool check_sigmoid(const OpView& op, Sigmoid kind, Diagnostics& diags);
std::function<int64_t(int64_t)> sigmoid_function(const OpView& op, Sigmoid kind);
Lowered lower_sigmoid(const OpView& op, const std::string& name, Sigmoid kind);

// Emits the curves of numbers in units of 1 / (3 * 4096); one table for both.
class SigmoidCurve {
 public:
  explicit SigmoidCurve(LoweringBuilder& f);
  tir::Ex emit(tir::FunctionBuilder& f, const tir::Ex& x, Sigmoid kind) const;

 private:
  tir::BufferPtr table_;
};

}  // namespace aotc::ops
