// SPDX-License-Identifier: Apache-2.0
// SegmentCost: the exact number of instructions of a kernel that is a loop over groups, each with an inner loop. The
// inner loop has equal pieces of straight code, several of them written out in an iteration. Pieces that fill no
// iteration are written out before the loop.
#pragma once

#include <cstdint>

namespace aotc::kernelgen {

struct SegmentCost {
  int64_t once = 0;    // instructions of a call
  int64_t group = 0;   // of a group without its pieces
  int64_t piece = 0;   // of a piece
  int64_t pieces = 0;  // in a group
  int64_t begin = 0;   // before the inner loop
  int64_t end = 0;     // at the end of its iterations

  // Iterations of the inner loop, 0 if it would have one; and the pieces before it.
  int64_t iterations(int64_t unroll) const { return pieces / unroll > 1 ? pieces / unroll : 0; }
  int64_t rest(int64_t unroll) const { return pieces - iterations(unroll) * unroll; }
  int64_t instructions(int64_t groups, int64_t unroll) const {
    const int64_t loop = iterations(unroll) > 0 ? begin + iterations(unroll) * (unroll * piece + end) : 0;
    return once + groups * (group + rest(unroll) * piece + loop);
  }
  // Number of instructions in the text.
  int64_t text(int64_t unroll) const {
    const int64_t loop = iterations(unroll) > 0 ? begin + unroll * piece + end : 0;
    return once + group + rest(unroll) * piece + loop;
  }
  // The factor with the lowest price for `calls` calls a run: instructions, and `per_instruction` for each in the text.
  int64_t best_unroll(int64_t groups, int64_t calls, double per_instruction) const {
    auto price = [&](int64_t unroll) {
      return static_cast<double>(calls * instructions(groups, unroll)) +
             per_instruction * static_cast<double>(text(unroll));
    };
    int64_t best = 1;
    for (int64_t unroll = 2; unroll <= pieces; ++unroll)
      if (price(unroll) < price(best)) best = unroll;
    return best;
  }
};

}  // namespace aotc::kernelgen
