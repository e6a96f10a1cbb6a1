// SPDX-License-Identifier: Apache-2.0
#include "ops/common/scaler.h"

#include <cassert>
#include <cmath>
#include <optional>

#include "ops/common/elementwise.h"

namespace aotc::ops {

using tir::Ex;
using tir::i64;

size_t Parameters::add(std::string name, int32_t value) {
  names_.push_back(std::move(name));
  values_.push_back(value);
  return values_.size() - 1;
}

void Parameters::load(LoweringBuilder& f) {
  tir::BufferPtr table = f.constant("parameters", DType::kI32, values_);
  for (size_t i = 0; i < values_.size(); ++i)
    loaded_.push_back(f.let(names_[i], tir::load(table, static_cast<int64_t>(i))));
}

Scaler::Scaler(Parameters& parameters, const std::string& name, QuantizedMultiplier m, int left)
    : parameters_(parameters), m_(m), left_(left) {
  assert(left == 0 || m.shift <= 0);
  multiplier_ = parameters.add(name + "_multiplier", m.multiplier);
  if (m.shift == 0) return;
  shift_ = parameters.add(name + "_shift", m.shift > 0 ? m.shift : -m.shift);
  if (m.shift < 0) half_ = parameters.add(name + "_half", int32_t{1} << (-m.shift - 1));
}

Ex Scaler::emit(tir::FunctionBuilder& f, const Ex& x) const {
  Ex shifted = m_.shift > 0 ? f.let("x", shl_wrapping(x, parameters_[shift_])) : x;
  // The high multiply of x << left, with the shift taken out of the product.
  Ex product = cast(DType::kI64, shifted) * cast(DType::kI64, parameters_[multiplier_]);
  Ex high = (product + i64(int64_t{1} << (30 - left_))) >> i64(31 - left_);
  Ex t = f.let("t", cast(DType::kI32, high));
  if (m_.shift >= 0) return t;
  // Ties away from zero; t + half fits because |t| < 2^30.
  return f.let("q", (t + parameters_[half_] - (t < 0)) >> parameters_[shift_]);
}

Lowered lower_scaled(const OpView& op, const std::string& name, SignedScales scales, ClampI32 clamp) {
  LoweringBuilder f(op, name);
  tir::BufferPtr in = f.operand(0);
  Parameters p;
  Scaler above(p, "above", quantize_multiplier(scales.above));
  bool one = scales.below == scales.above;
  std::optional<Scaler> below;
  if (!one) below.emplace(p, "below", quantize_multiplier(std::abs(scales.below)));
  p.load(f);
  tir::BufferPtr out = f.result();
  f.loop("i", 0, op.result().elements(), [&](const Ex& i) {
    Ex x = f.let("x", tir::load(in, i));
    Ex y = above.emit(f, x);
    if (!one) {
      y = f.var("y", y);
      f.if_(x < 0, [&] {
        Ex scaled = below->emit(f, x);
        f.assign(y, scales.below < 0 ? -scaled : scaled);
      });
    }
    f.store(out, i, emit_bound(y, clamp));
  });
  f.publish_in_place(0);
  return f.finish("fixed point");
}

}  // namespace aotc::ops
