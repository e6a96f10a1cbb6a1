// SPDX-License-Identifier: Apache-2.0
// Lowerings for cores with the DSP extension (Cortex-M4, M7, M33), which multiply two pairs of halfwords at once.
// The one thing to know: each gives nothing where its kernels do not fit, and what asks comes from
// dsp_extension() alone.
#pragma once

#include "cores/arm/lowering.h"
#include "cores/family.h"

namespace aotc::cores::arm {

Extension dsp_extension();

// int8, int16, and int8 with weights of 4 bits.
std::optional<Lowered> lower_conv_2d_dsp(const OpView& op, const TargetInfo& target);
// int8 where 3 x 3 windows are worth to be transformed.
std::optional<Lowered> lower_conv_2d_winograd(const OpView& op, const TargetInfo& target);
// Float activations and int8 weights.
std::optional<Lowered> lower_conv_2d_hybrid_dsp(const OpView& op, const TargetInfo& target);
// int8.
std::optional<Lowered> lower_depthwise_conv_2d_dsp(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_transpose_conv_dsp(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_fully_connected_dsp(const OpView& op, const TargetInfo& target);
// int8 of weights that several operators read.
bool shares_weights(const OpView& op);
std::optional<Lowered> lower_fully_connected_shared(const OpView& op, const TargetInfo& target);
// int8 with weights of 4 bits.
std::optional<Lowered> lower_fully_connected_nibbles(const OpView& op, const TargetInfo& target);
// int16.
std::optional<Lowered> lower_fully_connected_dsp16(const OpView& op, const TargetInfo& target);
// Float rows and int8 weights.
std::optional<Lowered> lower_fully_connected_hybrid_dsp(const OpView& op, const TargetInfo& target);
// int8.
std::optional<Lowered> lower_sum_dsp(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_svdf_dsp(const OpView& op, const TargetInfo& target);
bool is_tree_sums(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_trees_dsp(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_lstm_dsp(const OpView& op, const TargetInfo& target);

}  // namespace aotc::cores::arm
