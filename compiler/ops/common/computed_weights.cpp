// SPDX-License-Identifier: Apache-2.0
#include "ops/common/computed_weights.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "ops/common/activation_checks.h"
#include "ops/common/checks.h"
#include "ops/common/conv.h"

namespace aotc::ops {

using tir::Ex;

namespace {

// The largest distance of a weight from its zero point.
int64_t largest_weight(const OpView& op) {
  const int64_t zero = op.operand(1).quantization.per_channel() ? 0 : op.operand(1).zero_point();
  return has_uint8_weights(op) ? std::max(zero, 255 - zero) : std::max(zero + 128, 127 - zero);
}

int64_t largest_input(const OpView& op) {
  if (op.operand(0).dtype == DType::kI16) return 32768;
  const int64_t zero = op.operand(0).zero_point();
  return std::max(zero + 128, 127 - zero);
}

std::vector<AccRange> ranges_of(const OpView& op, const ComputedWeights& what) {
  const int64_t reach = what.terms * largest_input(op) * largest_weight(op);
  std::vector<AccRange> out;
  for (int64_t c = 0; c < what.channels; ++c) {
    const int64_t bias = op.operand(0).dtype == DType::kI16 ? wide_bias_at(op, c) : bias_at(op, c);
    out.push_back({std::min<int64_t>(bias, 0) - reach, std::max<int64_t>(bias, 0) + reach});
  }
  return out;
}

std::vector<double> scales_of(const OpView& op, const ComputedWeights& what) {
  return conv_scales(op.operand(0), op.operand(1), op.result(), what.channels, RoundingRule::kLitert,
                     what.float_products);
}

Requantization scaling_of(const OpView& op, const ComputedWeights& what) {
  return {scales_of(op, what), ranges_of(op, what), what.rounding, op.result().zero_point(),
          quantized_clamp(what.activation, op.result())};
}

WideScaling wide_scaling_of(const OpView& op, const ComputedWeights& what) {
  WideScaling out;
  out.scales = scales_of(op, what);
  out.ranges = ranges_of(op, what);
  out.rounding = what.wide_rounding;
  out.clamp = quantized_clamp(what.activation, op.result());
  for (int64_t c = 0; c < what.channels; ++c) out.bias.push_back(wide_bias_at(op, c));
  return out;
}

bool check_bias(const OpView& op, const ComputedWeights& what, Diagnostics& diags) {
  const DType type = op.operand(0).dtype;
  if (!op.has_operand(2)) return true;
  if (type != DType::kF32) {
    const std::vector<DType> types =
        type == DType::kI8 ? std::vector{DType::kI32} : std::vector{DType::kI64, DType::kI32};
    if (!verify_bias(op, what.channels, types, diags)) return false;
    for (int64_t zero : op.operand(2).quantization.zero_point) {
      if (what.bias_zero_point || has_uint8_weights(op) || zero == 0) continue;
      diags.error(op.where(), "op-quantization", fmt::format("the bias has zero point {}, expected 0", zero));
      return false;
    }
    return true;
  }
  if (!check_type(op, 2, {DType::kF32}, diags)) return false;
  return op.operand(2).elements() == what.channels ||
         bad_shape(op, diags,
                   fmt::format("bias has {} elements for {} output channels", op.operand(2).elements(), what.channels));
}

// Is every sum of int8, and what becomes of it, a number of 32 bits?
bool check_sums(const OpView& op, const ComputedWeights& what, Diagnostics& diags) {
  const Requantization scaling = scaling_of(op, what);
  if (what.rounding == Rounding::kDouble && !check_convolution_multipliers(op, diags)) return false;
  for (size_t c = 0; c < scaling.ranges.size(); ++c) {
    const int64_t largest = scaling.ranges[c].magnitude();
    double reached = static_cast<double>(largest);
    if (what.rounding == Rounding::kSingle) reached *= std::max(1.0, scaling.scales[c]);
    if (reached < 2147483648.0 - 256) continue;  // the zero point is added in 32 bits
    diags
        .error(op.where(), "op-quantization",
               fmt::format("a sum of {} products with computed weights can reach {:g}, which is no number of 32 bits",
                           what.terms, reached))
        .help("the reference result would be undefined; re-quantise the model");
    return false;
  }
  return true;
}

}  // namespace

bool verify_computed_weights(const OpView& op, const ComputedWeights& what, Diagnostics& diags) {
  if (!check_counts(op, 2, 3, 1, diags) || !check_type(op, 0, {DType::kI8, DType::kI16, DType::kF32}, diags))
    return false;
  const DType type = op.operand(0).dtype;
  const std::vector<DType> weights = type == DType::kF32   ? std::vector{DType::kF32}
                                     : type == DType::kI16 ? std::vector{DType::kI8}
                                                           : std::vector{DType::kI8, DType::kU8};
  if (!check_type(op, 1, weights, diags) || !check_result_type(op, 0, type, diags) || !check_bias(op, what, diags))
    return false;
  if (type == DType::kF32) return true;
  const bool uint8 = has_uint8_weights(op);
  if (!check_per_tensor(op, op.operand_tensor(0), diags) || !check_per_tensor(op, op.graph[op.op.results[0]], diags) ||
      (uint8 && !check_per_tensor(op, op.operand_tensor(1), diags)) ||
      !verify_weights_quantization(op, what.channels, 0, uint8 || what.weights_zero_point, diags) ||
      !check_activation_bounds(op, what.activation, diags))
    return false;
  if (type == DType::kI8) return check_sums(op, what, diags);
  return check_symmetric_io(op, diags) && check_wide_sums(op, wide_scaling_of(op, what), diags);
}

ComputedSums::ComputedSums(const OpView& op, LoweringBuilder& f, const ComputedWeights& what)
    : op_(op), f_(f), activation_(what.activation), is_float_(op.operand(0).dtype == DType::kF32) {
  in_ = f.operand(0);
  weights_ = f.operand(1);
  zero_ = is_float_ ? tir::f32(0.0f) : Ex(0);
  if (is_float_) {
    if (op.has_operand(2)) bias_ = f.operand(2);
  } else if (in_->dtype == DType::kI16) {
    const WideScaling scaling = wide_scaling_of(op, what);
    if (scaling.wide()) zero_ = tir::i64(0);
    if (op.has_operand(2)) bias_ = wide_bias(f, scaling);
    wide_.emplace(f, scaling);
  } else {
    if (op.has_operand(2)) bias_ = f.operand(2);
    requantizer_.emplace(f, scaling_of(op, what));
  }
  out_ = f.result();
}

void ComputedSums::begin() {
  if (requantizer_) requantizer_->begin(f_);
  if (wide_) wide_->begin(f_);
}

Ex ComputedSums::start(const Ex& c) const { return is_float_ || !bias_ ? zero_ : load(bias_, c); }

Ex ComputedSums::input(const Ex& at) const {
  Ex v = load(in_, at);
  return is_float_ || in_->dtype == DType::kI16 ? v : v - op_.operand(0).zero_point();
}

Ex ComputedSums::weight(const Ex& at) const {
  Ex v = load(weights_, at);
  const bool zero = is_float_ || op_.operand(1).quantization.per_channel();
  return zero ? v : v - op_.operand(1).zero_point();
}

Ex ComputedSums::finish(const Ex& sum, const Ex& c) const {
  if (wide_) return wide_->emit(f_, sum, wide_->prepare(f_, c));
  if (requantizer_) return requantizer_->emit(f_, sum, requantizer_->prepare(f_, c));
  // The reference adds a bias of 0 where there is none: -0 becomes 0.
  return emit_clamp(sum + (bias_ ? load(bias_, c) : tir::f32(0.0f)), float_clamp(activation_));
}

std::string ComputedSums::form() const {
  if (wide_) return std::string(wide_->form());
  return requantizer_ ? std::string(requantizer_->form()) : "float";
}

}  // namespace aotc::ops
