// SPDX-License-Identifier: Apache-2.0
// The microkernel for four units in a word (ops/common/quad_kernel.h), for cores without the DSP extension.
#pragma once

#include "cores/implementation.h"

namespace aotc::cores::arm {

// Thumb-2: one or two words at a time.
Implementation quads_thumb2(const tir::Kernel& kernel);

}  // namespace aotc::cores::arm
