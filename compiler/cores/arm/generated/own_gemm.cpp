// SPDX-License-Identifier: Apache-2.0
// The price of a layer's own product, in cycles and bytes.
#include <algorithm>

#include "cores/arm/dsp/depthwise_lines.h"
#include "cores/arm/generated/dsp_gemm.h"

namespace aotc::cores::arm {

namespace {

struct GemmCycles {
  static constexpr int64_t kStep = 11, kPiece = 37, kTurnEnd = 6, kNotTaken = 2;
};

// Cycles of the shared kernel: the first step, the jump into the loop with its weights, iterations of twelve steps.
int64_t shared_cycles(int64_t steps) {
  constexpr int64_t kFirstStep = 21, kTurnSteps = 12;
  const int64_t rest = steps - 1;
  return kFirstStep + GemmCycles::kStep * rest + 4 * ((rest + 2) / 3) +
         GemmCycles::kTurnEnd * ((rest + kTurnSteps - 1) / kTurnSteps);
}

}  // namespace

int64_t OwnGemm::cycles() const {
  const int64_t first = steps - kPieceSteps * pieces(), loop = iterations() * GemmCycles::kTurnEnd;
  return 4 + first + GemmCycles::kStep * first + GemmCycles::kPiece * pieces() + loop -
         (loop > 0 ? GemmCycles::kNotTaken : 0);
}

int64_t OwnGemm::bytes() const {
  constexpr int64_t kFrameBytes = 220, kPieceBytes = 100, kLoopBytes = 10;
  return kFrameBytes + kPieceBytes * (rest() + unroll) + (unroll > 0 ? kLoopBytes : 0);
}

std::optional<OwnGemm> OwnGemm::best(int64_t steps, int64_t stride, int64_t groups, int64_t alike,
                                     const ops::TargetInfo& target) {
  constexpr double kWorth = 0.03, kCyclesPerByte = 2;  // at -O speed
  constexpr int64_t kBothCycles = 40;                  // cycles of what both kernels do
  constexpr int64_t kMostPieces = 16;                  // in the text
  if (target.level == ops::Level::kSize || steps <= kPieceSteps || (kPixels - 1) * stride > kMostOffset)
    return std::nullopt;
  const double per_byte = (target.level == ops::Level::kSpeed ? kCyclesPerByte : target.instructions_per_byte) /
                          (target.calls * static_cast<double>(alike));
  const int64_t shared = shared_cycles(steps);
  std::optional<OwnGemm> best;
  double least = static_cast<double>(shared * groups);
  for (int64_t unroll = 0; unroll <= OwnGemm{steps}.pieces() / 2; ++unroll) {
    const OwnGemm own{steps, stride, unroll};
    if (own.rest() + own.unroll > kMostPieces) continue;
    const auto saved = static_cast<double>(shared - own.cycles());
    const double price = static_cast<double>(own.cycles() * groups) + per_byte * static_cast<double>(own.bytes());
    if (saved < kWorth * static_cast<double>(shared + kBothCycles) || price >= least) continue;
    least = price;
    best = own;
  }
  return best;
}

}  // namespace aotc::cores::arm
