// SPDX-License-Identifier: Apache-2.0
#include "target/arm/dsp/gemv_frame.h"

#include "target/arm/dsp/gemm.h"

namespace aotc::target::arm {

void begin_gemv(Thumb& a, Label body) {
  a.ldrd(r4, r5, r3, PairGemm::kShapePanelBytes * 4);  // and the stream's bytes
  a.add(r4, r4, r1);
  a.strd(r1, r4, sp, GemvFrame::kPixel);
  a.add(r5, r5, r0);
  a.strd(r2, r5, sp, GemvFrame::kOut);
  a.ldr(r6, r3, PairGemm::kShapeEntry * 4);
  a.adr(r7, body);
  a.add(r6, r6, r7);
  a.str(r6, sp, GemvFrame::kEntry);
  a.mov(r12, r0);
  a.mov(r0, r1);
  a.mov(r1, r12);
}

void end_gemv(Thumb& a, Label group) {
  a.ldr(r0, sp, GemvFrame::kStreamEnd);
  a.cmp(r1, r0);
  a.ldr(r0, sp, GemvFrame::kPixel);
  a.b("ne", group);
  a.leave();
}

}  // namespace aotc::target::arm
