// SPDX-License-Identifier: Apache-2.0
// What the kernels of one pixel (gemv_*) have on the stack, and how they begin and end a group of channels. They are
// called with r0: weights, r1: the pixel, r2: out, r3: shape.
#pragma once

#include "target/arm/thumb.h"

namespace aotc::target::arm {

// Bytes from sp: the pixel, end of the weights, out, where the unrolled body is entered, the pixel's end.
struct GemvFrame {
  static constexpr int kPixel = 0, kStreamEnd = 4, kOut = 8, kEntry = 12, kPixelEnd = 16, kBytes = 20;
};

// Behind the entry with a frame of kBytes: fills it. r0 and r1 stay.
void begin_gemv(Thumb& a, Label body);

// Goes on with the next group of channels while there are weights, from the pixel's begin; else returns. Changes scratch.
void end_gemv(Thumb& a, Label group, Reg scratch = r12);

}  // namespace aotc::target::arm
