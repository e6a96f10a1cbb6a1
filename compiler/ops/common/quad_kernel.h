// SPDX-License-Identifier: Apache-2.0
// A microkernel for products of a row with four units in a word (quad_gemv.h): a call multiplies a whole row, some
// words at a time, requantises and stores. Cores that have it in assembly name its family (TargetInfo::quad_kernel).
// The one thing to know: an output is saturate8(((acc << kLeft) * multiplier >> 32) + offset >> shift), one shift for
// all units, as of triple_kernel.h.
//
// The stream begins with kHeader words. A tile of units has its words, [step][word], then the bytes of its rests and
// these, a word each (step << 16 | place of the unit's total << 8 | byte of the weight), and for every unit the bias <<
// kLeft and, where units have scales of their own, multiplier, offset and, with `sign`, what the offset is less by for
// negative accumulators.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ops/common/quad_gemv.h"
#include "ops/common/requantize.h"

namespace aotc::ops {

struct QuadKernel {
  static constexpr int kLeft = 8;
  // From kMultiplier on: of all units, or not looked at.
  enum Header { kTiles, kDepth, kShift, kMultiplier, kOffset, kSign, kHeader };

  std::string_view family;  // what the core's text is found by
  int64_t words = 1;        // of a step
  int64_t group = 1;        // steps
  bool same = true;         // one scale for all units
  bool sign = false;

  int64_t units() const { return words * QuadGemv::kUnits; }
  int64_t line_words() const { return same ? 1 : sign ? 4 : 3; }
  // (stream, x, out, starts)
  tir::KernelPtr kernel() const;
  // Of tiles that begin at units `first`.
  std::vector<int32_t> stream(const QuadGemv& plan, const std::vector<int64_t>& first, const std::vector<int32_t>& bias,
                              const LineFit& fit) const;
  // Instructions of a row.
  int64_t cost(const QuadGemv& plan, int64_t units, const TargetInfo& target) const;
};

// The target's kernel for these units; nothing where it has none or what it demands is not met. `requantization` and
// `bias` are as for fit_common_line, which may change biases.
struct QuadKernelFit {
  QuadKernel kernel;
  LineFit lines;
};
std::optional<QuadKernelFit> fit_quad_kernel(const QuadGemv& plan, int64_t units, const Requantization& requantization,
                                             std::vector<int32_t>& bias, const TargetInfo& target);

}  // namespace aotc::ops
