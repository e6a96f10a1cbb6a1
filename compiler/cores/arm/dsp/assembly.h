// SPDX-License-Identifier: Apache-2.0
// The DSP extension's kernels, for Cortex-M4, M7 and M33. What each does, and what its arguments
// are, is said by its meaning in cores/arm/dsp/gemm.cpp and cores/arm/dsp/depthwise_kernels.cpp.
#pragma once

#include <functional>

#include "cores/arm/thumb.h"
#include "cores/implementation.h"

namespace aotc::cores::arm {

Implementation gemm_pairs(const tir::Kernel& kernel);
Implementation gemv_pairs(const tir::Kernel& kernel);
Implementation gemm_sums(const tir::Kernel& kernel);
Implementation gemv_sums(const tir::Kernel& kernel);
Implementation gemm_words(const tir::Kernel& kernel);
Implementation gemv_words(const tir::Kernel& kernel);
// cores/arm/dsp/gemm_fours.cpp
Implementation gemm_fours(const tir::Kernel& kernel);
// cores/arm/dsp/gemv_quads.cpp
Implementation gemv_quads(const tir::Kernel& kernel);
// cores/arm/dsp/gemm16.cpp
Implementation gemm_halves(const tir::Kernel& kernel);
Implementation gemv_halves(const tir::Kernel& kernel);
Implementation pack_halves(const tir::Kernel& kernel);
Implementation pack_halves_run(const tir::Kernel& kernel);
Implementation pack_pixels(const tir::Kernel& kernel);
Implementation pack_run(const tir::Kernel& kernel);
Implementation pack_pixel(const tir::Kernel& kernel);
Implementation pack_edge(const tir::Kernel& kernel);
Implementation dw_plane(const tir::Kernel& kernel);
Implementation dw_column(const tir::Kernel& kernel);
// cores/arm/dsp/depthwise_strided.cpp
Implementation dw_strided(const tir::Kernel& kernel);
// cores/arm/dsp/depthwise_row.cpp
Implementation dw_row(const tir::Kernel& kernel);
// cores/arm/dsp/depthwise_taps.cpp
Implementation dw_taps(const tir::Kernel& kernel);
// cores/arm/dsp/sum.cpp
Implementation dsp_sum(const tir::Kernel& kernel);
// cores/arm/dsp/winograd.cpp
Implementation winograd_rows(const tir::Kernel& kernel);
Implementation winograd_tile(const tir::Kernel& kernel);
Implementation winograd_pairs(const tir::Kernel& kernel);

// cores/arm/dsp/svdf_kernel.cpp
Implementation svdf_time(const tir::Kernel& kernel);

// cores/arm/dsp/nibbles.cpp
Implementation gemm_nibbles(const tir::Kernel& kernel);

// cores/arm/dsp/trees.cpp
Implementation tree_sums(const tir::Kernel& kernel);

// (acc * multiplier >> 32) + offset, shifted and saturated, in place. With `sign` the offset is
// less by sign's register for negative accumulators. `same`: as the one before, with the same registers.
void requantize(Thumb& a, Reg acc, Reg multiplier, Reg offset, int shift, const Reg* sign, Reg temp, bool same = false);

// The accumulator of pixel p and of channel 0 or 1 of a pair.
using PairAccumulators = std::function<Reg(int p, int channel)>;
struct PairRequantization {
  int shift = 0;
  bool sign = false;
  bool left = false;  // sums of the first channel are to be shifted left first
};
// Requantises the sums of two channels, in place. Their lines are in r10, r11, r12 and lr or, with signs, are read from
// r0 on into r10 to r12; lr changes.
void requantize_channels(Thumb& a, int pixels, const PairAccumulators& acc, const PairRequantization& how);

// A word of each pixel, at r0 (which moves on) and so many strides behind it, to r8 to r11; r6: three strides.
void load_pixels(Thumb& a, int pixels, Reg stride);
// These words to r1, which moves on.
void store_pixels(Thumb& a, int pixels);
// The end of what packs rows (r4, with r5 bytes between them) of words (r7): both loops, and the kernel's.
Implementation end_packing(Thumb& a, Label word, Label row);

// The value of a parameter of the kernel.
int parameter(const tir::Kernel& kernel, std::string_view name);
bool has_parameter(const tir::Kernel& kernel, std::string_view name);

// The stack frames of kernels of one pixel (gemv_*) and of several (gemm_*), and how they begin and end a group
// of channels. They are called with r0: weights, r1: the pixel or the panel of pixels, r2: out, r3: shape.
//
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
