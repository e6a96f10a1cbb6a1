// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/plain_thumb.h"
#include "cores/arm/triples.h"
#include "ops/common/triple_pack.h"

namespace aotc::cores::arm {

namespace {

using ops::TripleGemm;
using ops::TriplePack;

class PackWriter {
 public:
  explicit PackWriter(const tir::Kernel& kernel) : unroll_(parameter(kernel, "unroll")) {}

  // r0 x, r1 blank, r2 panel, r3 table.
  Implementation run() {
    Label row = a_.label(), turn = a_.label();
    static_assert(TriplePack::kFirst == 0 && TriplePack::kPitch == 3 && TriplePack::kCount == 4 &&
                  TriplePack::kRows == 5 && TriplePack::kSkip == 6);
    a_.enter(kLocals);
    a_.ldm(r3, {r4, r5, r6, r7, r8, r9, r10});
    a_.str(r8, sp, kCount);
    a_.str(r9, sp, kRows);
    a_.str(r10, sp, kSkip);
    a_.sub(r11, r7, r8);
    for (int p = 0; p < kPixels; ++p) begin(x(p), p);
    a_.bind(row);
    a_.ldr(kLeft, sp, kCount);
    a_.bind(turn);
    constexpr int kAtOnce = 4;  // elements, whose words are stored by one instruction
    a_.repeat(unroll_ / kAtOnce, [&] { elements(kAtOnce); });
    elements(unroll_ % kAtOnce);
    a_.subs(kLeft, kLeft, unroll_);
    a_.b("ne", turn);
    a_.ldm(sp, {r0, r1, r3, r7, r8});
    static_assert(kSkip == 12 && kRows == 16);
    a_.add(x(0), x(0), r0);
    a_.add(x(1), x(1), r1);
    a_.add(x(2), x(2), r3);
    a_.add(kTo, kTo, r7);
    a_.subs(r8, r8, 1);
    a_.str(r8, sp, kRows);
    a_.b("ne", row);
    a_.leave();
    return a_.finish();
  }

 private:
  static constexpr int kPixels = TripleGemm::kPixels;
  // Frame: from the end of a pixel's row to the next, and what the table says.
  static constexpr int kSkip = 12, kRows = 16, kCount = 20, kLocals = 24;
  static constexpr Reg kTo = r2, kMiddle = r12, kLeft = lr;

  static Reg x(int p) { return {4 + p}; }

  // The pixel's first element, or padding, which begins anew in each row.
  void begin(Reg at, int p) {
    a_.and_asr(lr, r7, at, 31);
    a_.sub(lr, r11, lr);
    a_.str(lr, sp, 4 * p);
    a_.add(lr, r0, at);
    a_.sub(r12, r1, lr);
    a_.and_asr(r12, r12, at, 31);
    a_.add(at, lr, r12);
  }

  void elements(int count) {
    const Reg word[] = {r0, r1, r3, r7, r8, r9, r10, r11};
    for (int i = 0; i < count; ++i) {
      const Reg first = word[2 * i], second = word[2 * i + 1];
      a_.ldrsb_after(kMiddle, x(1), 1);
      a_.ldrsb_after(first, x(0), 1);
      a_.ldrsb_after(second, x(2), 1);
      a_.add_lsl(first, first, kMiddle, TripleGemm::kLane);
      a_.add_lsl(second, second, kMiddle, TripleGemm::kLane - TripleGemm::kRest);
    }
    switch (count) {
      case 4: a_.stm_after(kTo, {r0, r1, r3, r7, r8, r9, r10, r11}); break;
      case 3: a_.stm_after(kTo, {r0, r1, r3, r7, r8, r9}); break;
      case 2: a_.stm_after(kTo, {r0, r1, r3, r7}); break;
      case 1: a_.strd_after(r0, r1, kTo, 8); break;
      default: break;
    }
  }

  PlainThumb a_;
  int unroll_;
};

}  // namespace

Implementation triple_pack_thumb2(const tir::Kernel& kernel) { return PackWriter(kernel).run(); }

}  // namespace aotc::cores::arm
