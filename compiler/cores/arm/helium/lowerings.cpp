// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/helium/lowerings.h"

#include "cores/arm/dsp/sum.h"
#include "cores/arm/generated/lstm_kernels.h"
#include "cores/arm/generated/mve_gates.h"
#include "cores/arm/helium/intrinsics.h"
#include "ops/common/conv.h"
#include "ops/common/nibbles.h"

namespace aotc::cores::arm {

namespace {

bool is_vector_bytes(const OpView& op, const TargetInfo& target) {
  return op.operand(0).dtype == DType::kI8 && !packs_nibbles(op, target);
}

bool is_vector_gemm(const OpView& op, const TargetInfo& target) {
  return is_vector_bytes(op, target) && target.allows("vectors");
}

bool is_vector_halves(const OpView& op, const TargetInfo& target) {
  return op.operand(0).dtype == DType::kI16 && !packs_nibbles(op, target) && target.allows("vectors");
}

bool is_patches(const OpView& op, const TargetInfo& target) {
  return is_vector_bytes(op, target) && target.allows("patches");
}

bool is_vector_int8(const OpView& op, const TargetInfo& target) {
  return op.operand(0).dtype == DType::kI8 && target.allows("vectors");
}

bool is_taps(const OpView& op, const TargetInfo& target) {
  return is_vector_halves(op, target) || (is_vector_gemm(op, target) && ops::has_uint8_weights(op));
}

// Loops in C are shorter.
bool is_average(const OpView& op, const TargetInfo& target) {
  return op.operand(0).dtype == DType::kI8 && target.allows("vectors") && target.level != Level::kSize;
}

constexpr int kAfterPatches = 19;
constexpr int kBeforeDsp = 20;  // dsp/lowerings.cpp has 10 and 15, and 30 for what is smaller than vectors

}  // namespace

Extension helium_extension() {
  Extension out;
  out.feature = "mve";
  out.lowerings = {
      {"add", kBeforeDsp, is_plain_sum, lower_sum_mve},
      {"sub", kBeforeDsp, is_plain_sum, lower_sum_mve},
      {"average_pool_2d", kBeforeDsp, is_average, lower_average_pool_2d_mve},
      {"byte_table", kBeforeDsp, is_vector_int8, lower_byte_clamp_mve},
      {"conv_2d", kBeforeDsp, is_vector_gemm, lower_conv_2d_mve},
      {"conv_2d", kBeforeDsp, is_vector_halves, lower_conv_2d_mve},
      {"depthwise_conv_2d", kBeforeDsp, is_patches, lower_depthwise_conv_2d_mve},
      {"depthwise_conv_2d", kAfterPatches, is_taps, lower_depthwise_conv_2d_taps},
      {"fully_connected", kBeforeDsp, is_vector_gemm, lower_fully_connected_mve},
      {"fully_connected", kBeforeDsp, is_vector_halves, lower_fully_connected_mve16},
      {"unidirectional_sequence_lstm", kBeforeDsp, is_vector_int8, lower_lstm_mve},
  };
  out.kernels = {
      {"mve_average", mve_average},
      {"mve_clamp", mve_clamp},
      {"mve_columns", mve_columns},
      {"mve_fill", mve_fill},
      {"mve_gates", mve_gates},
      {"mve_lstm_cell", mve_lstm_cell},
      {"mve_lstm_hidden", mve_lstm_hidden},
      {"mve_lstm_sigmoid", mve_lstm_sigmoid},
      {"mve_lstm_tanh", mve_lstm_tanh},
      {"mve_gemm", mve_gemm},
      {"mve_gemv", mve_gemv},
      {"mve_held", mve_held},
      {"mve_planes", mve_planes},
      {"mve_quads", mve_quads},
      {"mve_rows", mve_rows},
      {"mve_sum", mve_sum},
      {"mve_taps", mve_taps},
      {"mve_weave", mve_weave},
      {"mve_windows", mve_windows},
  };
  for (KernelText& text : out.kernels) text.translate = mve_intrinsics;
  out.describe = [](ops::TargetInfo& target) { target.vector_bytes = true; };
  out.intrinsics = true;
  return out;
}

}  // namespace aotc::cores::arm
