// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution over one axis, as networks for sequences have it, on cores with SMLAD: a channel at a time,
// four outputs at a time along the axis. The elements that four outputs read are loaded once and stand in pairs of
// neighbours, each of which is one more output's. No plane is made. The one thing to know: no window reaches outside of
// the image, and nothing is read from where a result was written.
#pragma once

#include "cores/arm/dsp/gemm.h"
#include "cores/arm/lowering.h"

namespace aotc::cores::arm {

struct DepthwiseTaps {
  static constexpr int64_t kFewest = 2, kMost = 16;  // taps
  int64_t taps = 2, outputs = 1;
  int64_t pixel = 1;  // bytes from element to element of the image, and of the result
  // What instructions can address.
  bool fits() const;
};

// Words of a channel: its weights, four to a word (the bytes of taps 0, 2, 1, 3); bias << 8; multiplier, offset,
// [sign].
int64_t dw_taps_words(int64_t taps, bool sign);
// `weights` are [channel][tap].
std::vector<int32_t> dw_taps_stream(const std::vector<int8_t>& weights, int64_t taps, const std::vector<int32_t>& bias,
                                    const PairLines& lines);
// (stream, x, out, channels)
tir::KernelPtr dw_taps_kernel(const DepthwiseTaps& shape, int shift, bool sign);

// int8. Nothing where the kernel does not fit.
std::optional<Lowered> lower_depthwise_taps(const OpView& op, const TargetInfo& target);

}  // namespace aotc::cores::arm
