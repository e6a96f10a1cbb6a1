// SPDX-License-Identifier: Apache-2.0
// Lowerings for cores with vectors of 16 bytes (Helium: Cortex-M55). The one thing to know: each gives nothing
// where its kernels do not fit, and what asks comes from helium_extension() alone.
#pragma once

#include "cores/arm/lowering.h"
#include "cores/family.h"

namespace aotc::cores::arm {

Extension helium_extension();

// int8.
std::optional<Lowered> lower_average_pool_2d_mve(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_conv_2d_mve(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_depthwise_conv_2d_mve(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_fully_connected_mve(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_lstm_mve(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_sum_mve(const OpView& op, const TargetInfo& target);

}  // namespace aotc::cores::arm
