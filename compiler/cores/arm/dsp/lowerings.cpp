// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/lowerings.h"

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/sum.h"
#include "cores/arm/generated/dsp_clamp.h"
#include "cores/arm/generated/dsp_gates.h"
#include "cores/arm/generated/lstm_kernels.h"
#include "ops/common/conv.h"
#include "ops/common/hybrid.h"
#include "ops/common/nibbles.h"
#include "ops/common/winograd.h"

namespace aotc::cores::arm {

namespace {

bool of_type(const OpView& op, DType type) { return op.operand(0).dtype == type; }

// Weights of a byte.
bool of_bytes(const OpView& op, const TargetInfo& target) {
  return of_type(op, DType::kI8) && !packs_nibbles(op, target) && !has_uint8_weights(op);
}

bool of_nibbles(const OpView& op, const TargetInfo& target) {
  return of_type(op, DType::kI8) && packs_nibbles(op, target) && target.allows("nibbles");
}

bool pairs_allowed(const TargetInfo& target) { return target.allows("pairs") || target.allows("words"); }

bool is_hybrid_pairs(const OpView& op, const TargetInfo& target) {
  return is_hybrid(op) && !packs_nibbles(op, target) && target.allows("pairs");
}

bool is_conv_gemm(const OpView& op, const TargetInfo& target) {
  if (of_nibbles(op, target)) return true;
  return (of_type(op, DType::kI8) && !packs_nibbles(op, target) && pairs_allowed(target)) ||
         (of_type(op, DType::kI16) && !packs_nibbles(op, target));
}

// A table of weights for each step costs more flash than what speed is worth, unless it is all that counts.
bool is_shared_rows(const OpView& op, const TargetInfo& target) {
  if (!of_bytes(op, target) || !target.allows("halves")) return false;
  const bool free = !target.asked || target.asked->algorithm.empty();
  return !free || (target.level != Level::kSpeed && shares_weights(op));
}

// Weights of uint8 as well.
bool is_pair_rows(const OpView& op, const TargetInfo& target) {
  return of_type(op, DType::kI8) && !packs_nibbles(op, target) && pairs_allowed(target);
}

bool is_half_rows(const OpView& op, const TargetInfo& target) {
  return of_type(op, DType::kI16) && !packs_nibbles(op, target) && target.allows("halves");
}

// Weights of uint8 where they are bytes without their zero point, which the lowering finds out.
bool is_byte_pairs(const OpView& op, const TargetInfo& target) {
  return of_type(op, DType::kI8) && target.allows("pairs");
}

bool is_int8(const OpView& op, const TargetInfo&) { return of_type(op, DType::kI8); }

// Priorities: those of Helium (helium/lowerings.cpp) are 20.
constexpr int kFirst = 30, kSecond = 15, kUsual = 10;

std::vector<ops::TargetLowering> all_lowerings() {
  return {
      {"add", kUsual, is_plain_sum, lower_sum_dsp},
      {"sub", kUsual, is_plain_sum, lower_sum_dsp},
      {"byte_table", kUsual, is_int8, lower_byte_clamp},
      {"conv_2d", kSecond, may_use_winograd, lower_conv_2d_winograd},
      {"conv_2d", kUsual, is_conv_gemm, lower_conv_2d_dsp},
      {"conv_2d", kUsual, is_hybrid_pairs, lower_conv_2d_hybrid_dsp},
      {"depthwise_conv_2d", kUsual, is_byte_pairs, lower_depthwise_conv_2d_dsp},
      {"fully_connected", kFirst, is_shared_rows, lower_fully_connected_shared},
      {"fully_connected", kUsual, is_pair_rows, lower_fully_connected_dsp},
      {"fully_connected", kUsual, of_nibbles, lower_fully_connected_nibbles},
      {"fully_connected", kUsual, is_half_rows, lower_fully_connected_dsp16},
      {"fully_connected", kUsual, is_hybrid_pairs, lower_fully_connected_hybrid_dsp},
      {"svdf", kUsual, is_int8, lower_svdf_dsp},
      {"transpose_conv", kUsual, is_byte_pairs, lower_transpose_conv_dsp},
      {"tree_ensemble", kUsual, is_tree_sums, lower_trees_dsp},
      {"unidirectional_sequence_lstm", kUsual, is_int8, lower_lstm_dsp},
  };
}

}  // namespace

Extension dsp_extension() {
  Extension out;
  out.feature = "dsp";
  out.intrinsics = true;
  out.lowerings = all_lowerings();
  out.kernels = {
      {"gemm_fours", gemm_fours},
      {"gemm_halves", gemm_halves},
      {"gemm_nibbles", gemm_nibbles},
      {"gemm_pairs", gemm_pairs},
      {"gemv_halves", gemv_halves},
      {"svdf_time", svdf_time},
      {"gemv_pairs", gemv_pairs},
      {"gemm_sums", gemm_sums},
      {"gemv_quads", gemv_quads},
      {"gemv_sums", gemv_sums},
      {"gemm_words", gemm_words},
      {"gemv_words", gemv_words},
      {"pack_halves", pack_halves},
      {"pack_halves_run", pack_halves_run},
      {"pack_edge", pack_edge},
      {"pack_pixel", pack_pixel},
      {"pack_pixels", pack_pixels},
      {"pack_run", pack_run},
      {"dsp_clamp", dsp_clamp},
      {"dsp_gates", dsp_gates},
      {"dsp_lstm_cell", dsp_lstm_cell},
      {"dsp_lstm_hidden", dsp_lstm_hidden},
      {"dsp_lstm_sigmoid", dsp_lstm_sigmoid},
      {"dsp_lstm_tanh", dsp_lstm_tanh},
      {"dsp_pack", dsp_pack},
      {"dsp_sum", dsp_sum},
      {"dw_plane", dw_plane},
      {"dw_column", dw_column},
      {"dw_column_nibbles", dw_column},
      {"dw_row", dw_row},
      {"dw_strided", dw_strided},
      {"dw_taps", dw_taps},
      {"tree_sums", tree_sums},
      {"winograd_rows", winograd_rows},
      {"winograd_tile", winograd_tile},
      {"winograd_pairs", winograd_pairs},
  };
  return out;
}

}  // namespace aotc::cores::arm
