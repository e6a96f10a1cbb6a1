// SPDX-License-Identifier: Apache-2.0
// What conv_2d and depthwise_conv_2d share: attributes, checks and accumulator bounds.
#pragma once

#include <span>

#include "ops/common/requantize.h"
#include "ops/common/window.h"
#include "ops/signature.h"

namespace aotc::ops {

// The image (NHWC) of these types, the weights, and an optional bias.
std::vector<OperandSpec> convolution_operands(std::vector<TypeEntry> types);

// Checks common to convolution-like operators with operands (input, weights, optional bias):
// types (int8 with int8 or int4 weights and int32 bias, int16 with such weights and a bias of int64 or, with
// `narrow_bias`, int32; float32 with weights of float32, int8 or int4), quantisation, bias length, accumulator
// range. `channel_axis` is the weights' axis of output channels. int8 weights with a zero point
// other than 0 are refused unless `weights_zero_point` (then they may have one per tensor). A bias of
// integers with a zero point other than 0 is refused unless `bias_zero_point` (then it is ignored).
struct ConvolutionRules {
  bool weights_zero_point = false;
  bool bias_zero_point = false;
  bool int16 = true;
  bool int16_zero_points = false;  // int16 activations may have zero points
  bool narrow_bias = true;
  bool int4 = true;  // weights of 4 bits, with zero points 0
  bool int4_of_int16 = true;
  bool int4_of_floats = true;
  bool uint8 = true;           // weights of uint8 for int8 activations
  bool computed_bias = false;  // of float32
  bool sums = false;           // int8 activations may have int32 results (gives_sums)
};
bool verify_convolution(const OpView& op, int64_t channels, int channel_axis, Diagnostics& diags,
                        ConvolutionRules rules = {});

// The reference compares the scale of the bias with that of the sums, for weights per tensor only (of
// convolutions: of uint8); a bias without one has scale 0 there. Reports [op-quantization].
bool check_bias_scale(const OpView& op, Diagnostics& diags);

// Of it: the bias, absent or a constant of `channels` elements of one of the types; the scales of int8
// weights.
bool verify_bias(const OpView& op, int64_t channels, std::span<const DType> types, Diagnostics& diags,
                 bool computed = false);
bool verify_weights_quantization(const OpView& op, int64_t channels, int channel_axis, bool zero_point_allowed,
                                 Diagnostics& diags);

// Of int8 with double rounding: can the reference's 32-bit arithmetic apply every channel's
// multiplier? Reports [op-quantization].
bool check_convolution_multipliers(const OpView& op, Diagnostics& diags);

// Bias of each output channel with the input's zero point folded in, and the values that its
// accumulator can have in the end.
struct FoldedBias {
  std::vector<int32_t> bias;
  std::vector<AccRange> ranges;
};
// `weights_of(c)` gives the weights (less their zero point) that output channel c sums over.
FoldedBias fold_bias(const OpView& op, int64_t channels,
                     const std::function<std::vector<int32_t>(int64_t c)>& weights_of);

// Weights of integers less their zero point, in the order of the tensor: those of uint8 take nine bits.
std::vector<int16_t> centred_weights(const OpView& op);
// Weights as kernels of bytes take them, int8 or uint8 less 128, and what these sums lack of those of centred
// weights: `correction` times the sum of the stored inputs. 0 unless weights are uint8.
struct StoredWeights {
  explicit StoredWeights(const OpView& op);
  std::vector<int8_t> values;
  int32_t correction = 0;
};
// Constant `name` with these values, as int8 where they fit and int16 otherwise.
tir::BufferPtr weights_constant(LoweringBuilder& f, const std::string& name, const std::vector<int16_t>& weights);

// An int8 layer with weights of uint8, per tensor and with any zero point: a uint8 layer of the model.
inline bool has_uint8_weights(const OpView& op) { return op.operand(1).dtype == DType::kU8; }

// True if the results are int32, the sums of the products of int8 inputs and weights as they are. Scales have no
// meaning then, but zero points do.
inline bool gives_sums(const OpView& op) {
  return op.operand(0).dtype == DType::kI8 && op.result().dtype == DType::kI32;
}

// Stores element `at` of the result of int8 inputs: int8, or int32 if it gives sums.
void store_result(const OpView& op, const EvalData& data, int64_t at, int32_t value);

// Fills `elements` elements from index `to` with `zero`. The type is int8 or int16; any type if `zero` is 0.
void fill_elements(tir::FunctionBuilder& f, const tir::BufferPtr& buffer, const tir::Ex& to, int32_t zero,
                   int64_t elements);

// int32 bias of channel c, 0 without one.
int32_t bias_at(const OpView& op, int64_t c);
float float_bias_at(const OpView& op, int64_t c);

}  // namespace aotc::ops
