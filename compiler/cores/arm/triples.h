// SPDX-License-Identifier: Apache-2.0
// Microkernels for three pixels in two words (ops/common/triple_kernel.h), for cores without the DSP extension.
#pragma once

#include "cores/implementation.h"

namespace aotc::cores::arm {

// Thumb-2: four channels at a time.
Implementation triples_thumb2(const tir::Kernel& kernel);
// What fills its panel (ops/common/triple_pack.h).
Implementation triple_pack_thumb2(const tir::Kernel& kernel);
// Thumb-1, which Cortex-M0 has: one channel at a time.
Implementation triples_thumb1(const tir::Kernel& kernel);

}  // namespace aotc::cores::arm
