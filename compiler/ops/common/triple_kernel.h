// SPDX-License-Identifier: Apache-2.0
// A microkernel for products of three pixels in two words (triple_gemm.h): all channels of three pixels in one call,
// requantised and stored. Cores that have it in assembly name its family (TargetInfo::triple_kernel). The one thing
// to know: an output is saturate8(((acc << kLeft) * multiplier >> 32) + offset >> shift), one shift for all channels,
// so it applies where the steps of all channels can be met by such lines.
//
// Stream of a group of C channels: weights [step][C], each a byte, then for every channel its bias << kLeft,
// multiplier, offset and, with `sign`, what the offset is less by for negative accumulators.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ops/common/requantize.h"
#include "ops/common/triple_gemm.h"

namespace aotc::ops {

struct TripleKernel {
  static constexpr int kLeft = 8;
  // Words of the table that a call takes as shape: `kSteps` and `kPanelBytes` are of a segment.
  enum Shape { kGroups, kStride, kSteps, kSegments, kPanelBytes, kStreamBytes };
  static constexpr int64_t kLineWords = 3;  // and one more with `sign`

  std::string_view family;  // what the core's text is found by
  int64_t channels = 1;     // of a group
  int64_t unroll = 4;       // steps that are written out; a segment is a multiple
  bool flipped = false;     // bytes of weights have their top bit flipped
  bool many = false;        // more than one segment
  int shift = 0;
  bool sign = false;

  int64_t line_words() const { return kLineWords + (sign ? 1 : 0); }
  // Of a group.
  int64_t words(int64_t padded_k) const { return channels * (padded_k / 4 + line_words()); }
  // (stream, panel, out, shape)
  tir::KernelPtr kernel() const;
  // Groups begin at channels `first`; weights are [channels][plan.k].
  std::vector<int32_t> stream(const TripleGemm& plan, const std::vector<int8_t>& weights,
                              const std::vector<int64_t>& first, const std::vector<int32_t>& bias,
                              const LineFit& fit) const;
  // `stride`: bytes between pixels of the output.
  std::vector<int32_t> shape(const TripleGemm& plan, int64_t groups, int64_t stride) const;
  // Instructions of a call.
  int64_t cost(const TripleGemm& plan, int64_t groups, const TargetInfo& target) const;
};

// The target's kernel for these weights [channels][k], and how segments are made for it; nothing where it has none or
// what it demands is not met. `requantization` and `bias` are as for fit_common_line, which may change biases.
struct TripleKernelFit {
  TripleKernel kernel;
  TripleGemm plan;
  LineFit lines;
};
std::optional<TripleKernelFit> fit_triple_kernel(const std::vector<int8_t>& weights, int64_t channels, int64_t k,
                                                 const Requantization& requantization, std::vector<int32_t>& bias,
                                                 const TargetInfo& target);

}  // namespace aotc::ops
