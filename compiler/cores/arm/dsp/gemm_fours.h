// SPDX-License-Identifier: Apache-2.0
// The product of gemm_pairs (cores/arm/dsp/gemm.h) for two pixels by four channels: what is loaded for a step are two
// words of weights and two of the panel, one behind the other, which takes a core whose loads are pipelined five cycles
// for 16 multiplications. Three pixels by two channels need fewer instructions, but more cycles.
//
// Its stream is gemm_stream's for groups of four channels: the biases of two pairs, two words a step, one for each
// pair, then the lines of all.
#pragma once

#include "cores/arm/dsp/gemm.h"

namespace aotc::cores::arm {

struct FourGemm {
  static constexpr int kPixels = 2, kChannels = 4;
  static constexpr int kUnroll = 16;  // steps written out in the loop
  static constexpr int kStepInstructions = 14;
  // A kernel for one number of steps needs no entry into the middle of its loop, or no loop. It may write out so many,
  // and is to save so many cycles of a run for each byte.
  static constexpr int kMostWritten = 32, kLeastWritten = 8;
  static constexpr double kCyclesPerByte = 2;
};

// Steps that are written out behind the first one, and whether they are a loop. 0 steps: a loop of kUnroll that is
// entered where the number of steps wants it.
struct FoursForm {
  int64_t written = 0;
  bool loop = true;
};
// For `groups` groups a run, of so many steps.
FoursForm fours_form(int64_t steps, int64_t groups);

// The table that the kernel takes as shape; `stride` is the distance of the two pixels in the output, in bytes.
std::vector<int32_t> fours_shape(int64_t steps, int64_t groups, int64_t stride, bool sign);
// (stream, panel, out, shape), where shape is of as many steps as the form is for.
tir::KernelPtr gemm_fours_kernel(int shift, bool sign, const FoursForm& form);
// What one call runs.
Work fours_work(int64_t steps, int64_t groups, bool sign);

}  // namespace aotc::cores::arm
