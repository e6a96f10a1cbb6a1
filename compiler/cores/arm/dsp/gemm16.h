// SPDX-License-Identifier: Apache-2.0
// Matrix products of int16 activations with int8 weights for cores that multiply two pairs of halfwords at
// once (SMLAD). Two neighbouring elements of a pixel are a word as they lie in memory; a word of the weight
// stream holds two taps of two channels, a0 b0 a1 b1, of which two extensions make a pair each. The one
// thing to know: sums are made in 32 bits, so the caller has proven that they fit.
//
// Stream of a pair of channels: two biases, one word a step, two multipliers. An output is
// saturate((acc * multiplier + 2^31) >> 32), or with a shift saturate((acc * multiplier >> 32) >> shift), to int16 or,
// with `relu`, to 0 .. 32767. Panel and shape are
// those of gemm.h.
#pragma once

#include <optional>
#include <vector>

#include "cores/arm/dsp/gemm.h"
#include "ops/common/wide_requantize.h"

namespace aotc::cores::arm {

struct HalvesGemm {
  static constexpr int kUnroll = 8;
  static constexpr int kStepInstructions[] = {0, 6, 8, 10, 13};  // by pixels; 4 bytes each
  static constexpr int kGemvUnroll = 4;
  static constexpr int kGemvInstructions = 19;
  static constexpr int kGemvChannels = 8;
};

// What a scaling is to the kernels, if it is something: sums of 32 bits, multipliers for a shift by 32, and
// bounds that a saturation has.
struct HalvesScaling {
  std::vector<int32_t> multipliers;  // per channel
  bool relu = false;
  int shift = 0;
};
std::optional<HalvesScaling> fit_halves(const WideScaling& scaling);

std::vector<int32_t> halves_stream(const std::vector<int8_t>& weights, int64_t k, const PairOrder& order,
                                   const std::vector<int64_t>& first, const std::vector<int32_t>& bias,
                                   const HalvesScaling& scaling);
// `stride` is the distance of pixels in the output, in bytes.
std::vector<int32_t> halves_shape(int64_t steps, int64_t pairs, int64_t stride, int64_t pixels);

// (stream, panel, out, shape): `pixels` rows of out, two channels a pair.
tir::KernelPtr gemm_halves_kernel(int64_t pixels, bool relu, int shift = 0);
// Sums of one pixel for groups of eight channels. Stream of a group: eight biases, then for every two taps a
// word for each pair of channels, as above.
std::vector<int32_t> halves_vector_stream(const std::vector<int8_t>& weights, int64_t depth,
                                          const std::vector<int64_t>& first, const std::vector<int32_t>& bias);
std::vector<int32_t> halves_vector_shape(int64_t steps, int64_t groups);
// (stream, x, sums, shape)
tir::KernelPtr gemv_halves_kernel();
Work halves_vector_work(int64_t steps, int64_t groups);

// (x, panel, shape): rows of words of 2 elements of `pixels` neighbours into the panel.
tir::KernelPtr pack_halves_kernel(int64_t pixels);
// (x, panel, words): `words` words of 2 elements of one pixel into a panel of `pixels`.
tir::KernelPtr pack_halves_run_kernel(int64_t pixels);

// One call of gemm_halves, and of pack_halves for `rows` rows of `words` words.
Work halves_work(int64_t pixels, int64_t steps, int64_t pairs);
Work pack_halves_work(int64_t pixels, int64_t words, int64_t rows);

}  // namespace aotc::cores::arm
