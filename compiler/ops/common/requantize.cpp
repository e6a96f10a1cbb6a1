#include "ops/common/requantize.h"

#include <algorithm>

namespace aotc::ops {

using tir::Ex;
using tir::FunctionBuilder;
using tir::i64;

int32_t multiply_single_rounding(int32_t x, QuantizedMultiplier m) {
  int total = 31 - m.shift;
  int64_t product = static_cast<int64_t>(x) * m.multiplier;
  int64_t rounded = (product + (int64_t{1} << (total - 1))) >> total;
  return static_cast<int32_t>(rounded);
}

std::vector<QuantizedMultiplier> conv_multipliers(const graph::TensorType& input,
                                                  const graph::TensorType& weights,
                                                  const graph::TensorType& output,
                                                  int64_t channels) {
  std::vector<QuantizedMultiplier> out;
  const std::vector<float>& scales = weights.quantization.scale;
  for (int64_t c = 0; c < channels; ++c) {
    float scale = scales.size() == 1 ? scales[0] : scales[static_cast<size_t>(c)];
    double real = static_cast<double>(input.scale()) * static_cast<double>(scale) /
                  static_cast<double>(output.scale());
    out.push_back(quantize_multiplier(real));
  }
  return out;
}

namespace {

// Bound of |doubling high multiply| for accumulators up to `largest` shifted left by `left`.
int64_t scaled_bound(int64_t largest, QuantizedMultiplier m) {
  int left = std::max(m.shift, 0);
  int64_t shifted = std::min<int64_t>(largest << std::min(left, 31), int64_t{1} << 31);
  return ((shifted * m.multiplier) >> 31) + 1;
}

bool rounding_sum_fits(int64_t largest, QuantizedMultiplier m) {
  int right = std::max(-m.shift, 0);
  int64_t half = right > 0 ? int64_t{1} << (right - 1) : 0;
  return scaled_bound(largest, m) + half + 1 < (int64_t{1} << 31);
}

// floor((x * m + 2^30) / 2^31) in 64 bits.
Ex emit_high_mul(const Ex& x, const Ex& multiplier) {
  Ex product = cast(DType::kI64, x) * cast(DType::kI64, multiplier);
  return cast(DType::kI32, (product + i64(int64_t{1} << 30)) >> i64(31));
}

// Rounding shift right by `s` (0..31) that cannot overflow, whatever the value.
Ex emit_rounding_shift_any(FunctionBuilder& f, const Ex& t, const Ex& s) {
  Ex mask = f.let("mask", cast(DType::kI32, (i64(1) << cast(DType::kI64, s)) - i64(1)));
  Ex remainder = t & mask;
  Ex threshold = (mask >> 1) + (t < 0);
  return (t >> s) + (remainder > threshold);
}

}  // namespace

Requantizer::Requantizer(LoweringBuilder& f, const std::vector<QuantizedMultiplier>& multipliers,
                         Rounding rounding, int64_t largest, int32_t zero_point, ClampI32 clamp,
                         DType out)
    : multipliers_(multipliers), rounding_(rounding), zero_point_(zero_point), clamp_(clamp),
      out_(out) {
  for (const QuantizedMultiplier& m : multipliers) {
    per_channel_ = per_channel_ || m.multiplier != multipliers[0].multiplier ||
                   m.shift != multipliers[0].shift;
    any_left_ = any_left_ || m.shift > 0;
    any_right_ = any_right_ || m.shift < 0;
    right_at_least_one_ = right_at_least_one_ && m.shift < 0;
    sum_fits_ = sum_fits_ && rounding_sum_fits(largest, m);
  }
  size_t count = per_channel_ ? multipliers.size() : 1;
  std::vector<int32_t> mantissas;
  std::vector<int8_t> shifts;
  for (size_t c = 0; c < count; ++c) {
    mantissas.push_back(multipliers[c].multiplier);
    // Single rounding: the whole right shift. Double: right counts positive, left negative.
    int shift = rounding == Rounding::kSingle ? 31 - multipliers[c].shift : -multipliers[c].shift;
    shifts.push_back(static_cast<int8_t>(shift));
  }
  multiplier_table_ = f.constant("multiplier", DType::kI32, mantissas);
  bool needs_shift = rounding == Rounding::kSingle || any_left_ || any_right_;
  if (needs_shift) shift_table_ = f.constant("shift", DType::kI8, shifts, 1);
}

Requantizer::Parameters Requantizer::parameters(FunctionBuilder& f, const Ex& channel) const {
  Ex index = per_channel_ ? channel : Ex(0);
  Parameters p;
  p.multiplier = f.let("m", load(multiplier_table_, index));
  if (shift_table_) p.shift = f.let("s", load(shift_table_, index));
  return p;
}

Ex Requantizer::emit(FunctionBuilder& f, const Ex& acc, const Ex& channel) const {
  Parameters p = parameters(f, channel);
  Ex t;
  if (rounding_ == Rounding::kSingle) {
    Ex s = f.let("s64", cast(DType::kI64, p.shift));
    Ex product = cast(DType::kI64, acc) * cast(DType::kI64, p.multiplier);
    t = f.let("t", cast(DType::kI32, (product + (i64(1) << (s - i64(1)))) >> s));
  } else {
    Ex x = acc;
    if (any_left_) x = f.let("x", shl_wrapping(acc, max(-p.shift, 0)));
    t = f.let("t", emit_high_mul(x, p.multiplier));
    if (any_right_) {
      Ex s = any_left_ ? f.let("r", max(p.shift, 0)) : p.shift;
      if (right_at_least_one_ && sum_fits_) {
        t = f.let("q", (t + ((Ex(1) << s) >> 1) - (t < 0)) >> s);
      } else {
        t = f.let("q", emit_rounding_shift_any(f, t, s));
      }
    }
  }
  // Saturates before the zero point is added only if the sum could leave int32, which the clamp
  // bounds rule out for int8: |t| < 2^31 - 2^8 is checked by the callers' `largest`.
  return clamp(t + zero_point_, clamp_.min, clamp_.max);
}

Ex emit_multiply(FunctionBuilder& f, const Ex& value, QuantizedMultiplier m, int64_t largest) {
  Ex x = value;
  if (m.shift > 0) x = f.let("x", shl_wrapping(x, m.shift));
  Ex t = f.let("t", emit_high_mul(x, Ex(m.multiplier)));
  if (m.shift >= 0) return t;
  int s = -m.shift;
  if (rounding_sum_fits(largest, m))
    return f.let("q", (t + (int64_t{1} << (s - 1)) - (t < 0)) >> s);
  return f.let("q", emit_rounding_shift_any(f, t, Ex(s)));
}

}  // namespace aotc::ops
