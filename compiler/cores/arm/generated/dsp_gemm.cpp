// SPDX-License-Identifier: Apache-2.0
// The kernel of gemm_pairs (cores/arm/dsp/gemm.h) for one layer and three pixels, generated: as the number of steps is
// known, no loop is entered in its middle, and the distance of pixels is an immediate.
#include "cores/arm/generated/dsp_gemm.h"
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/depthwise_lines.h"
#include "cores/arm/dsp/gemm.h"
#include "cores/arm/generated/cached.h"
#include "cores/arm/generated/dsp_block.h"
#include "cores/arm/generated/dsp_tile.h"

namespace aotc::cores::arm {

namespace {

Reg gemm_sum(int pixel, int channel) { return {DspTile::kFirstSum + 2 * pixel + channel}; }

// Frame: that of gemm_pairs, with the panel's end in the place of the stride.
constexpr int kOwnGemmPanelEnd = 12, kOwnGemmFrame = 16;

void put_gemm_results(DspText& a, int shift, bool sign, int stride) {
  constexpr int kPixels = OwnGemm::kPixels;
  a.note("Requantise: multiply, add the offset, shift, saturate; store.");
  for (int p = 0; p < kPixels; ++p) a.sub(gemm_sum(p, 1), gemm_sum(p, 1), gemm_sum(p, 0));
  if (!sign) a.ldm_after(r0, {r10, r11, r12, lr});
  requantize_channels(a, kPixels, gemm_sum, {shift, sign, true});
  a.ldr(r1, sp, GemmFrame::kOut);
  for (int p = 0; p < kPixels; ++p) a.bfi(gemm_sum(p, 0), gemm_sum(p, 1), 8, 8);
  a.at_any_address();
  for (int p = kPixels - 1; p > 0; --p) a.strh(gemm_sum(p, 0), r1, p * stride);
  a.strh_after(gemm_sum(0, 0), r1, 2);
  a.str(r1, sp, GemmFrame::kOut);
}

Implementation own_gemm_text(const tir::Kernel& kernel) {
  const int shift = parameter(kernel, "shift");
  const bool sign = parameter(kernel, "sign") != 0;
  const OwnGemm own{parameter(kernel, "steps"), parameter(kernel, "stride"), parameter(kernel, "unroll")};
  const DspTile tile(OwnGemm::kPixels, 2);
  const int piece = tile.piece_steps();
  auto put_pieces = [&](DspText& a, int64_t count) {
    a.repeat(static_cast<int>(count), [&] { a.put(tile.steps(piece, false), DspTile::kTemporaries); });
  };
  DspText a;
  Label group = a.label(), turn = a.label();
  a.note("On entry r0: weights, r1: panel of 3 pixels, r2: out, r3: shape.");
  a.enter(kOwnGemmFrame);
  a.note("On the stack from sp: panel, end of weights, out, the panel's end.");
  a.ldr(r4, r3, PairGemm::kShapeStreamBytes * 4);
  a.add(r4, r4, r0);
  a.mov(r5, r2);
  a.mov(r6, r1);
  move_by(a, r6, static_cast<int>(own.steps * OwnGemm::kPixels * 4), r7);
  a.stm(sp, {r1, r4, r5, r6});
  a.note("For every pair of channels a, b. r0: weights, r1: panel, r2 to r7: sums of a and b of each pixel.");
  a.bind(group);
  a.put(tile.steps(tile.first_steps(own.steps), true), DspTile::kTemporaries);
  a.note("A piece: two taps of two channels in each of three steps. A word of weights has 256 * b + a in each half.");
  put_pieces(a, own.rest());
  if (own.iterations() > 0) {
    a.bind(turn);
    put_pieces(a, own.unroll);
    a.ldr(r12, sp, kOwnGemmPanelEnd);
    a.cmp(r1, r12);
    a.b("ne", turn);
  }
  put_gemm_results(a, shift, sign, static_cast<int>(own.stride));
  end_group(a, group);
  return a.finish();
}

}  // namespace

Implementation own_gemm(const tir::Kernel& kernel) {
  return cached(kernel, [&] { return own_gemm_text(kernel); });
}

}  // namespace aotc::cores::arm
