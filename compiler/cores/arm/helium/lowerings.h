// SPDX-License-Identifier: Apache-2.0
// Lowerings and kernels for cores with vectors of 16 bytes (Helium: Cortex-M55). The one thing to know: each gives
// nothing where its kernels do not fit, and what asks comes from helium_extension() alone.
#pragma once

#include "cores/arm/lowering.h"
#include "cores/family.h"
#include "cores/implementation.h"

namespace aotc::cores::arm {

Extension helium_extension();

// int8; convolutions also int16.
std::optional<Lowered> lower_average_pool_2d_mve(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_byte_clamp_mve(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_conv_2d_mve(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_depthwise_conv_2d_mve(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_depthwise_conv_2d_taps(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_fully_connected_mve(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_fully_connected_mve16(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_lstm_mve(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_sum_mve(const OpView& op, const TargetInfo& target);

// Kernels in assembly, by family. The kernel with the same name in TIR is the meaning of each, and has its arguments.
Implementation mve_average(const tir::Kernel& kernel);
Implementation mve_clamp(const tir::Kernel& kernel);
Implementation mve_columns(const tir::Kernel& kernel);
Implementation mve_gemm(const tir::Kernel& kernel);
Implementation mve_gemv(const tir::Kernel& kernel);
Implementation mve_held(const tir::Kernel& kernel);
Implementation mve_planes(const tir::Kernel& kernel);
Implementation mve_windows(const tir::Kernel& kernel);
Implementation mve_quads(const tir::Kernel& kernel);
Implementation mve_weave(const tir::Kernel& kernel);
Implementation mve_rows(const tir::Kernel& kernel);
Implementation mve_fill(const tir::Kernel& kernel);
Implementation mve_sum(const tir::Kernel& kernel);
Implementation mve_taps(const tir::Kernel& kernel);

}  // namespace aotc::cores::arm
