// SPDX-License-Identifier: Apache-2.0
// The kernels of gemm_pairs and gemm_words (cores/arm/dsp/gemm.h) for one layer, generated: as the number of steps is
// known, no loop is entered in its middle, and the distance of pixels is an immediate.
#include "cores/arm/generated/dsp_gemm.h"

#include <fmt/format.h>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/depthwise_lines.h"
#include "cores/arm/dsp/gemm.h"
#include "cores/arm/generated/cached.h"
#include "cores/arm/generated/dsp_block.h"
#include "cores/arm/generated/dsp_tile.h"

namespace aotc::cores::arm {

namespace {

Reg gemm_sum(int pixel, int channel) { return {DspTile::kFirstSum + 2 * pixel + channel}; }

// Frame: out, where it ends for the first pixel, the panel's end.
constexpr int kOwnGemmOut = 0, kOwnGemmPanelEnd = 8, kOwnGemmFrame = 12;

// The pointer to the panel is at its end before, and at its begin behind. The flags say whether out ends.
void put_gemm_results(DspText& a, int shift, bool sign, const OwnGemm& own) {
  const int pixels = static_cast<int>(own.pixels), stride = static_cast<int>(own.stride);
  a.note("Requantise: multiply, add the offset, shift, saturate; store.");
  for (int p = 0; p < pixels && !own.words; ++p) a.sub(gemm_sum(p, 1), gemm_sum(p, 1), gemm_sum(p, 0));
  if (!sign) a.ldm_after(r0, {r10, r11, r12, lr});
  requantize_channels(a, pixels, gemm_sum, {shift, sign, !own.words});
  for (int p = 0; p < pixels; ++p) a.bfi(gemm_sum(p, 0), gemm_sum(p, 1), 8, 8);
  a.ldrd(r10, r11, sp, kOwnGemmOut);
  a.at_any_address();
  for (int p = pixels - 1; p > 0; --p) a.strh(gemm_sum(p, 0), r10, p * stride);
  a.strh_after(gemm_sum(0, 0), r10, 2);
  move_by(a, r1, static_cast<int>(-own.steps * own.pixels * 4), r12);
  a.str(r10, sp, kOwnGemmOut);
  a.cmp(r10, r11);
}

Implementation own_gemm_text(const tir::Kernel& kernel) {
  const int shift = parameter(kernel, "shift");
  const bool sign = parameter(kernel, "sign") != 0;
  const OwnGemm own{parameter(kernel, "steps"), parameter(kernel, "stride"), parameter(kernel, "unroll"),
                    parameter(kernel, "pixels"), kernel.family == "gemm_words"};
  const DspTile tile(own.pixels, 2, own.words);
  const int piece = tile.piece_steps();
  auto put_pieces = [&](DspText& a, int64_t count) {
    a.repeat(static_cast<int>(count), [&] { a.put(tile.steps(piece, false), DspTile::kTemporaries); });
  };
  DspText a;
  Label group = a.label(), turn = a.label();
  a.note(fmt::format("On entry r0: weights, r1: panel of {} pixels, r2: out, r3: shape.", own.pixels));
  a.enter(kOwnGemmFrame);
  a.note("On the stack from sp: out, where it ends for the first pixel, the panel's end.");
  a.ldr(r3, r3, PairGemm::kShapePairs * 4);
  a.add_lsl(r3, r2, r3, 1);
  a.mov(r4, r1);
  move_by(a, r4, static_cast<int>(own.steps * own.pixels * 4), r5);
  a.stm(sp, {r2, r3, r4});
  a.note(
      fmt::format("For every pair of channels a, b. r0: weights, r1: panel, r2 to r{}: sums of a and b of each pixel.",
                  1 + 2 * own.pixels));
  a.bind(group);
  a.put(tile.steps(tile.first_steps(own.steps), true), DspTile::kTemporaries);
  a.note(own.words ? "A step of a piece: two taps of two channels, a word of weights for each."
                   : "A step of a piece: two taps of two channels. A word of weights has 256 * b + a in each half.");
  put_pieces(a, own.rest());
  if (own.iterations() > 0) {
    a.bind(turn);
    put_pieces(a, own.unroll);
    a.ldr(r12, sp, kOwnGemmPanelEnd);
    a.cmp(r1, r12);
    a.b("ne", turn);
  }
  put_gemm_results(a, shift, sign, own);
  a.b("ne", group);
  a.leave();
  return a.finish();
}

}  // namespace

Implementation own_gemm(const tir::Kernel& kernel) {
  return cached(kernel, [&] { return own_gemm_text(kernel); });
}

}  // namespace aotc::cores::arm
