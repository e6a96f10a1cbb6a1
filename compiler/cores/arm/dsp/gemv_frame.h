// SPDX-License-Identifier: Apache-2.0
// What the kernels of one pixel (gemv_*) and of several (gemm_*) have on the stack, and how they begin and end a group
// of channels. They are called with r0: weights, r1: the pixel or the panel of pixels, r2: out, r3: shape.
#pragma once

#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

// Bytes from sp: the pixel, end of the weights, out, where the unrolled body is entered, the pixel's end.
struct GemvFrame {
  static constexpr int kPixel = 0, kStreamEnd = 4, kOut = 8, kEntry = 12, kPixelEnd = 16, kBytes = 20;
};

// Behind the entry with a frame of kBytes: fills it. r0 and r1 stay.
void begin_gemv(Thumb& a, Label body);

// Of both kinds, whose frames begin alike: goes on with the next group of channels while there are weights, from the
// begin of the pixel or panel; else returns. Changes scratch.
void end_group(Thumb& a, Label group, Reg scratch = r12);

// Bytes from sp: the panel, end of the weights, out, its stride, where the unrolled body is entered, the panel's end,
// and of kernels that ask for it what their shape has behind these.
struct GemmFrame {
  static constexpr int kOut = 8, kEntry = 16, kPanelEnd = 20, kBack = 24;
};

// Behind the entry without locals: pushes the frame. r0 and r1 stay.
void begin_gemm(Thumb& a, Label body, bool back);

}  // namespace aotc::cores::arm
