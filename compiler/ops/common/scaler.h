// SPDX-License-Identifier: Apache-2.0
// Fixed-point scaling in elementwise code. Numbers that differ between operators of equal shape
// (multipliers, shifts, zero points) are collected in one constant table and loaded before the
// loops, so that such operators share a function. The one thing to know: what is decided at compile
// time is the form (which way the shift goes), and each form gives the reference's bits.
#pragma once

#include <string>
#include <vector>

#include "ops/common/activation.h"
#include "ops/lowering.h"
#include "support/numerics.h"

namespace aotc::ops {

// The table: add all numbers, `load` once, then read them.
class Parameters {
 public:
  size_t add(std::string name, int32_t value);
  void load(LoweringBuilder& f);
  bool empty() const { return values_.empty(); }
  const tir::Ex& operator[](size_t i) const { return loaded_[i]; }

 private:
  std::vector<std::string> names_;
  std::vector<int32_t> values_;
  std::vector<tir::Ex> loaded_;
};

// multiply_by_quantized_multiplier(x << left, m) for |x << left| <= largest < 2^30, or
// |x << m.shift| < 2^31 where m.shift > 0 (and left is 0).
class Scaler {
 public:
  Scaler(Parameters& parameters, const std::string& name, QuantizedMultiplier m, int left = 0);
  // Parameters must be loaded. Statements go to `f`.
  tir::Ex emit(tir::FunctionBuilder& f, const tir::Ex& x) const;

 private:
  const Parameters& parameters_;
  QuantizedMultiplier m_;
  int left_;
  size_t multiplier_ = 0, shift_ = 0, half_ = 0;
};

// out[i] = in[i] scaled by one of two real numbers: that for values below 0, which may be negative, and
// that for the others. Of int16 with zero points 0.
struct SignedScales {
  double below, above;
};
Lowered lower_scaled(const OpView& op, const std::string& name, SignedScales scales, ClampI32 clamp);

}  // namespace aotc::ops
