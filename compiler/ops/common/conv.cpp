// SPDX-License-Identifier: Apache-2.0
#include "ops/common/conv.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/hybrid.h"

namespace aotc::ops {

std::vector<OperandSpec> convolution_operands(std::vector<TypeEntry> types) {
  return {{.name = "x", .types = std::move(types), .ranks = {4, 4}},
          {.name = "weights", .ranks = {4, 4}},
          {.name = "bias", .optional = true}};
}

bool verify_bias(const OpView& op, int64_t channels, std::span<const DType> types, Diagnostics& diags, bool computed) {
  if (!op.has_operand(2)) return true;
  if (!check_type(op, 2, types, diags)) return false;
  if (op.operand(2).elements() != channels)
    return bad_shape(op, diags,
                     fmt::format("bias has {} elements for {} output channels", op.operand(2).elements(), channels));
  return computed || op.constant(2) != nullptr || bad_shape(op, diags, "bias must be a constant");
}

bool verify_weights_quantization(const OpView& op, int64_t channels, int channel_axis, bool zero_point_allowed,
                                 Diagnostics& diags) {
  const graph::Quantization& q = op.operand(1).quantization;
  auto fail = [&](const std::string& why) {
    diags.error(op.where(), "op-quantization", why);
    return false;
  };
  if (!q.present()) return fail("weights are integers without quantisation parameters");
  if (q.per_channel() && (q.axis != channel_axis || static_cast<int64_t>(q.scale.size()) != channels))
    return fail(fmt::format("weights have {} scales along axis {}; expected {} along axis {}", q.scale.size(), q.axis,
                            channels, channel_axis));
  // The sums of a channel with scale 0 are multiplied by 0.
  for (float s : q.scale)
    if (!(s >= 0.0f) || !std::isfinite(s) || (s == 0.0f && !q.per_channel()))
      return fail(fmt::format("a weight scale is {}, which is not a positive number", s));
  if (zero_point_allowed && !q.per_channel()) return check_per_tensor(op, op.operand_tensor(1), diags);
  for (int64_t zp : q.zero_point)
    if (zp != 0)
      return fail(fmt::format("{} weights have zero point {}, expected 0",
                              op.operand(1).dtype == DType::kI4 ? "int4" : "int8", zp));
  return true;
}

namespace {

std::vector<DType> bias_types(DType type, ConvolutionRules rules) {
  if (type == DType::kI8) return {DType::kI32};
  if (type == DType::kF32) return {DType::kF32};
  return rules.narrow_bias ? std::vector{DType::kI64, DType::kI32} : std::vector{DType::kI64};
}

bool check_bias_zero_point(const OpView& op, Diagnostics& diags) {
  if (!op.has_operand(2)) return true;
  for (int64_t zero : op.operand(2).quantization.zero_point) {
    if (zero == 0) continue;
    diags.error(op.where(), "op-quantization", fmt::format("the bias has zero point {}, expected 0", zero))
        .help("LiteRT refuses it as well; convert the model again");
    return false;
  }
  return true;
}

std::vector<DType> weight_types(DType type, ConvolutionRules rules) {
  if (type == DType::kF32) return {DType::kF32};
  bool packed = type == DType::kI16 ? rules.int4_of_int16 : rules.int4;
  std::vector<DType> out = {DType::kI8};
  if (packed) out.push_back(DType::kI4);
  if (type == DType::kI8 && rules.uint8) out.push_back(DType::kU8);
  return out;
}

}  // namespace

bool check_bias_scale(const OpView& op, Diagnostics& diags) {
  if (!op.has_operand(2) || op.operand(1).quantization.per_channel()) return true;
  for (const graph::TensorType* type : {&op.operand(0), &op.operand(1), &op.result()}) {
    bool quantized = type->dtype == DType::kI8 || type->dtype == DType::kI4 || type->dtype == DType::kI16 ||
                     type->dtype == DType::kU8;
    if (!quantized || type->quantization.scale.size() != 1) return true;
  }
  const graph::Quantization& bias = op.operand(2).quantization;
  double scale = bias.present() ? static_cast<double>(bias.scale[0]) : 0;
  double wanted = static_cast<double>(op.operand(0).scale() * op.operand(1).scale());
  if (std::abs(wanted - scale) / static_cast<double>(op.result().scale()) <= 0.02) return true;
  diags
      .error(op.where(), "op-quantization",
             fmt::format("the bias has scale {:g}, the sums it is added to have {:g}", scale, wanted))
      .help("convert the model again; LiteRT refuses this bias as well");
  return false;
}

namespace {

// 32 bits hold every sum of an int8 layer, in whichever order its products are added to the bias.
bool check_sums(const OpView& op, int64_t channels, int channel_axis, Diagnostics& diags) {
  if (channels < 1) return true;
  const graph::Shape& shape = op.operand(1).shape;
  int64_t inner = 1;
  for (size_t i = static_cast<size_t>(channel_axis) + 1; i < shape.size(); ++i) inner *= shape[i];
  // Sums over stored uint8 weights are corrected by the distance of their zero point from 128.
  const int64_t stored = has_uint8_weights(op) ? 128 : 0;
  constexpr int64_t kMost = int64_t{1} << 31;
  int64_t largest_bias = 0;
  for (int64_t c = 0; c < channels; ++c)
    largest_bias = std::max(largest_bias, std::abs(static_cast<int64_t>(bias_at(op, c))));
  // Layers with few weights a channel, which are nearly all, pass whatever the weights are: passes verify often.
  const int64_t terms = op.operand(1).elements() / channels;
  const int64_t distance = stored > 0 ? 255 : 128 + std::abs(static_cast<int64_t>(op.operand(1).zero_point()));
  const int64_t largest_weight = distance + stored;
  if (terms < kMost && largest_bias + terms * largest_weight * 256 < kMost) return true;
  std::vector<int64_t> weights(static_cast<size_t>(channels));
  int64_t i = 0;
  for (int16_t w : centred_weights(op)) weights[static_cast<size_t>(i++ / inner % channels)] += std::abs(w) + stored;
  for (int64_t c = 0; c < channels; ++c) {
    // |x - zero_point| is at most 255; folding the zero point can reach 256 on the way.
    const int64_t bias = std::abs(static_cast<int64_t>(bias_at(op, c)));
    const int64_t products = weights[static_cast<size_t>(c)] * 256;
    if (bias + products < kMost) continue;
    diags
        .error(op.where(), "op-quantization",
               fmt::format("channel {}: a bias of {} and products of up to {} in all can overflow 32 bits", c,
                           bias_at(op, c), products))
        .help("the reference result is undefined for such a layer; re-quantise the model");
    return false;
  }
  return true;
}

}  // namespace

bool verify_convolution(const OpView& op, int64_t channels, int channel_axis, Diagnostics& diags,
                        ConvolutionRules rules) {
  if (is_hybrid(op)) {
    if (op.operand(1).dtype == DType::kI4 && !rules.int4_of_floats)
      return check_type(op, 1, {DType::kF32, DType::kI8}, diags);
    return verify_hybrid(op, channels, channel_axis, diags);
  }
  std::vector<DType> types = {DType::kI8, DType::kF32};
  if (rules.int16) types.insert(types.begin() + 1, DType::kI16);
  if (!check_counts(op, 2, 3, 1, diags) || !check_type(op, 0, types, diags)) return false;
  DType type = op.operand(0).dtype;
  const bool sums = rules.sums && gives_sums(op);
  if (!check_type(op, 1, weight_types(type, rules), diags) ||
      !check_result_type(op, 0, sums ? DType::kI32 : type, diags))
    return false;
  if (!op.constant(1)) return bad_shape(op, diags, "weights must be a constant");
  if (!verify_bias(op, channels, bias_types(type, rules), diags, rules.computed_bias && type == DType::kF32))
    return false;
  if (type == DType::kF32) return true;
  bool uint8 = has_uint8_weights(op);
  if (!rules.bias_zero_point && !uint8 && !check_bias_zero_point(op, diags)) return false;
  if (!check_per_tensor(op, op.operand_tensor(0), diags) ||
      (!sums && !check_per_tensor(op, op.graph[op.op.results[0]], diags)) ||
      (uint8 && !check_per_tensor(op, op.operand_tensor(1), diags)) ||
      !verify_weights_quantization(op, channels, channel_axis,
                                   uint8 || (rules.weights_zero_point && op.operand(1).dtype == DType::kI8), diags))
    return false;
  if (type == DType::kI16) return rules.int16_zero_points || check_symmetric_io(op, diags);
  return check_sums(op, channels, channel_axis, diags);
}

bool check_convolution_multipliers(const OpView& op, Diagnostics& diags) {
  if (op.operand(0).dtype != DType::kI8 || gives_sums(op)) return true;
  // From 2^30 on the reference shifts by the width of its numbers, which is undefined.
  constexpr double kLimit = (1 << 30) - 1;
  for (double real : conv_scales(op.operand(0), op.operand(1), op.result(),
                                 static_cast<int64_t>(op.operand(1).quantization.scale.size()))) {
    if (real < kLimit) continue;
    diags
        .error(op.where(), "op-quantization",
               fmt::format("the scales of {} make a multiplier of {:g}, which overflows the "
                           "reference's 32-bit arithmetic",
                           op.op.name(), real))
        .help("re-quantise the model; a scale this far from the others is a calibration mistake");
    return false;
  }
  return true;
}

std::vector<int16_t> centred_weights(const OpView& op) {
  std::span<const uint8_t> bytes = op.constant(1)->bytes;
  const int32_t zero = op.operand(1).zero_point();
  const bool is_unsigned = has_uint8_weights(op);
  std::vector<int16_t> out;
  out.reserve(bytes.size());
  for (uint8_t byte : bytes)
    out.push_back(static_cast<int16_t>((is_unsigned ? int32_t{byte} : int32_t{static_cast<int8_t>(byte)}) - zero));
  return out;
}

StoredWeights::StoredWeights(const OpView& op) : values(op.constant(1)->to_vector<int8_t>()) {
  if (!has_uint8_weights(op)) return;
  for (int8_t& v : values) v = static_cast<int8_t>(v ^ -128);
  correction = 128 - op.operand(1).zero_point();
}

tir::BufferPtr weights_constant(LoweringBuilder& f, const std::string& name, const std::vector<int16_t>& weights) {
  bool narrow = std::all_of(weights.begin(), weights.end(), [](int16_t w) { return w >= -128 && w <= 127; });
  if (!narrow) return f.constant(name, DType::kI16, weights);
  return f.constant(name, DType::kI8, std::vector<int8_t>(weights.begin(), weights.end()));
}

void store_result(const OpView& op, const EvalData& data, int64_t at, int32_t value) {
  const auto i = static_cast<size_t>(at);
  if (gives_sums(op)) data.out<int32_t>()[i] = value;
  else data.out<int8_t>()[i] = static_cast<int8_t>(value);
}

void fill_elements(tir::FunctionBuilder& f, const tir::BufferPtr& buffer, const tir::Ex& to, int32_t zero,
                   int64_t elements) {
  const bool bytes = zero == 0 || size_of(buffer->dtype) == 1;
  if (bytes) return f.fill_bytes(buffer, to, zero & 0xFF, elements);
  f.loop("b", 0, elements, [&](const tir::Ex& b) { f.store(buffer, to + b, zero); });
}

int32_t bias_at(const OpView& op, int64_t c) {
  const graph::ConstantView* bias = op.constant(2);
  return bias ? bias->get<int32_t>(c) : 0;
}

float float_bias_at(const OpView& op, int64_t c) {
  const graph::ConstantView* bias = op.constant(2);
  return bias ? bias->get<float>(c) : 0.0f;
}

FoldedBias fold_bias(const OpView& op, int64_t channels,
                     const std::function<std::vector<int32_t>(int64_t c)>& weights_of) {
  FoldedBias out;
  int64_t zero_point = op.operand(0).zero_point();
  for (int64_t c = 0; c < channels; ++c) {
    int64_t sum = 0, below = 0, above = 0;
    for (int32_t w : weights_of(c)) {
      sum += w;
      below += std::min(-128 * w, 127 * w);
      above += std::max(-128 * w, 127 * w);
    }
    int64_t bias = bias_at(op, c) - zero_point * sum;
    out.bias.push_back(static_cast<int32_t>(bias));
    if (op.graph.open_constants) out.ranges.push_back({INT32_MIN, INT32_MAX});
    else out.ranges.push_back({bias + below, bias + above});
  }
  return out;
}

}  // namespace aotc::ops
