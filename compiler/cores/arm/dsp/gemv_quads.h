// SPDX-License-Identifier: Apache-2.0
// The product of one vector of bytes with the weights of four channels at a time, for cores with SMLAD: the bytes
// are spread into halfwords as they are loaded, so there is no panel. It pays where few channels share a
// vector, and where the vector is long: its panel would be twice as large as it is.
//
// Stream of a group of four channels: four biases, for every word of the vector the words of channels 0 and 1 and
// of 2 and 3, each for elements 0 and 2 and then for 1 and 3, and the channels' lines. Biases and words are those of
// "pairs" (gemm.h), whose sums are scaled by 256. Where these would be too large, or two weights do not go together, a
// word has the weights as bytes, which takes one more extension, and sums are shifted by less when they are done.
#pragma once

#include "cores/arm/dsp/gemm.h"

namespace aotc::cores::arm {

struct GemvQuads {
  static constexpr int64_t kChannels = 4;
  static constexpr int kUnroll = 4;  // words of the vector
};

struct QuadsForm {
  bool bytes = false;
  int left = PairGemm::kLeft;                               // sums are requantised shifted left by this
  int64_t instructions() const { return bytes ? 20 : 16; }  // for a word of the vector, of 4 bytes each
};
// Nothing where neither is exact. Of these weights, in groups that begin at channels `first`.
struct QuadsLines {
  QuadsForm form;
  PairLines lines;
};
std::optional<QuadsLines> fit_quads(const std::vector<int8_t>& weights, const std::vector<int64_t>& first, int64_t k,
                                    const Requantization& scaling, std::vector<int32_t>& bias, bool fpu);

std::vector<int32_t> quads_stream(const std::vector<int8_t>& weights, int64_t k, const std::vector<int64_t>& first,
                                  const std::vector<int32_t>& bias, const QuadsLines& lines);
// Of a vector of `words` words. The indices are PairGemm::Shape.
std::vector<int32_t> quads_shape(int64_t words, int64_t groups, bool sign, const QuadsForm& form);
// (stream, x, out, shape)
tir::KernelPtr gemv_quads_kernel(int shift, bool sign, const QuadsForm& form);
Work quads_work(int64_t words, int64_t groups, bool sign, const QuadsForm& form);

}  // namespace aotc::cores::arm
