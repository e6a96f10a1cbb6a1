// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels on bytes, widened to words four at a time.
#include "cores/arm/helium/elementwise.h"

#include <algorithm>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/helium/assembly.h"
#include "cores/arm/helium/helium.h"

namespace aotc::cores::arm {

// r0 a, r1 b, r2 out, r3 table.
Implementation mve_sum(const tir::Kernel& kernel) {
  constexpr int kUnroll = 4;  // of vectors of four elements
  int shift = parameter(kernel, "shift");
  Helium a;
  Label whole = a.label(), rest = a.label(), few = a.label(), done = a.label();
  auto four = [&] {
    a.vldrb_after(32, q0, r0, 4);
    a.vldrb_after(32, q1, r1, 4);
    a.vmlas(32, q0, q2, r7);
    a.vmla(32, q0, q1, r6);
    a.narrow(32, q0, q0, std::min(shift, 16));
    a.narrow(16, q0, q0, std::max(shift - 16, 0));
    a.vstrb_after(32, q0, r2, 4);
  };
  a.enter(0);
  a.ldrd(r4, r5, r3, MveSum::kElements * 4);  // and a's weight
  a.ldrd(r6, r7, r3, MveSum::kWeightB * 4);   // and the offset
  a.vdup(32, q2, r5);
  a.lsr(r8, r4, 4);
  a.wls(r8, few);
  a.bind(whole);
  a.repeat(kUnroll, four);
  a.le(whole);
  a.bind(few);
  a.lsl(r4, r4, 28);
  a.lsr(r4, r4, 28);
  a.wlstp(32, r4, done);
  a.bind(rest);
  four();
  a.letp(rest);
  a.bind(done);
  a.leave();
  return a.finish();
}

}  // namespace aotc::cores::arm
