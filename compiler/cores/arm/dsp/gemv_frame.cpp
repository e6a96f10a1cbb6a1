// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/gemv_frame.h"

#include "cores/arm/dsp/gemm.h"

namespace aotc::cores::arm {

void begin_gemv(Thumb& a, Label body) {
  static_assert(PairGemm::kShapeEntry == 3 && PairGemm::kShapePanelBytes == 4 && PairGemm::kShapeStreamBytes == 5);
  a.ldm(r3, {r4, r5, r6, r7, r8, r9});
  a.add(r4, r0, r9);
  a.mov(r5, r2);
  a.adr(r9, body);
  a.add(r7, r7, r9);
  a.add(r8, r8, r1);
  a.stm(sp, {r1, r4, r5, r7, r8});
}

void end_group(Thumb& a, Label group, Reg scratch) {
  a.ldrd(r1, scratch, sp, GemvFrame::kPixel);  // and the end of the weights
  a.cmp(r0, scratch);
  a.b("ne", group);
  a.leave();
}

void begin_gemm(Thumb& a, Label body, bool back) {
  static_assert(PairGemm::kShapeStride == 2 && PairGemm::kShapeEntry == 3 && PairGemm::kShapePanelBytes == 4 &&
                PairGemm::kShapeStreamBytes == 5 && PairGemm::kShapeBack == 6);
  back ? a.ldm(r3, {r4, r5, r6, r7, r8, r9, r10}) : a.ldm(r3, {r4, r5, r6, r7, r8, r9});
  a.add(r4, r0, r9);
  a.mov(r5, r2);
  a.adr(r9, body);
  a.add(r7, r7, r9);
  a.add(r8, r8, r1);
  a.push({r1, r4, r5, r6, r7, r8, r10});
}

}  // namespace aotc::cores::arm
