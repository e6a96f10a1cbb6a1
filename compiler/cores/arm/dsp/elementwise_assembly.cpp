// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels for cores with the DSP extension.
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/elementwise.h"
#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

// r0 a, r1 b, r2 out, r3 table.
Implementation dsp_sum(const tir::Kernel& kernel) {
  int shift = parameter(kernel, "shift");
  Thumb a;
  Label more = a.label();
  a.enter(0);
  a.ldrd(r4, r5, r3, DspSum::kElements * 4);  // and the weight of a
  a.ldrd(r6, r7, r3, DspSum::kWeightB * 4);   // and the offset
  a.add(r4, r4, r2);
  a.bind(more);
  a.repeat(DspSum::kUnroll, [&] {
    a.ldrsb_after(r8, r0, 1);
    a.ldrsb_after(r9, r1, 1);
    a.mla(r8, r8, r5, r7);
    a.mla(r8, r9, r6, r8);
    a.ssat(r8, 8, r8, shift);
    a.strb_after(r8, r2, 1);
  });
  a.cmp(r2, r4);
  a.b("ne", more);
  a.leave();
  return a.finish();
}

}  // namespace aotc::cores::arm
