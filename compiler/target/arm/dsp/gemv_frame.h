// SPDX-License-Identifier: Apache-2.0
// What the kernels of one pixel (gemv_*) have on the stack, and how they begin and end a group of channels. They are
// called with r0: weights, r1: the pixel, r2: out, r3: shape.
#pragma once

#include "target/arm/thumb.h"

namespace aotc::target::arm {

// Bytes from sp: the pixel, its end, where the unrolled body is entered, out, end of the weights.
struct GemvFrame {
  static constexpr int kPixel = 0, kPixelEnd = 4, kEntry = 8, kOut = 12, kStreamEnd = 16, kBytes = 24;
};

// Behind the entry with a frame of kBytes: fills it. Then r0: the pixel, r1: weights.
void begin_gemv(Thumb& a, Label body);

// Goes on with the next group of channels while there are weights, from the pixel's begin; else returns.
void end_gemv(Thumb& a, Label group);

}  // namespace aotc::target::arm
