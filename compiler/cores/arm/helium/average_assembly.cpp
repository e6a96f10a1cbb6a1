// SPDX-License-Identifier: Apache-2.0
// Averages with vectors. What the kernel does is said by its meaning in cores/arm/helium/average_pool_2d.cpp.
#include <algorithm>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/helium/assembly.h"
#include "cores/arm/helium/average.h"
#include "cores/arm/helium/helium.h"

namespace aotc::cores::arm {

// r0 x, r1 out, r2 table; r3 the pixel, r4 groups, r5 from pixel to pixel, r6 the multiplier, r7 the offset.
Implementation mve_average(const tir::Kernel& kernel) {
  constexpr int kMostStep = 127, kMostUnroll = 8;
  const int pixels = parameter(kernel, "pixels"), channels = parameter(kernel, "channels");
  const int left = parameter(kernel, "left"), shift = parameter(kernel, "shift");
  const bool clamps = parameter(kernel, "clamps") != 0;
  const int groups = channels / MveAverage::kGroup, rest = channels % MveAverage::kGroup;
  int unroll = std::min(kMostUnroll, pixels);
  while (pixels % unroll != 0) --unroll;
  Helium a;
  Label group = a.label(), pixel = a.label(), done = a.label();
  a.note("On entry r0: x, r1: out, r2: table.");
  a.enter(0);
  a.ldrd(r6, r7, r2, MveAverage::kMultiplier * 4);  // and the offset
  if (clamps) {
    a.ldrd(r3, r4, r2, MveAverage::kLeast * 4);
    a.vdup(8, q4, r3);
    a.vdup(8, q5, r4);
  }
  a.mov(r4, groups);
  a.mov(r5, channels);
  a.mov(r12, pixels / unroll);
  a.bind(group);
  a.mov(r3, r0);
  a.vmov_imm(32, q1, 0);
  a.dls(r12);
  a.bind(pixel);
  a.repeat(unroll, [&] {
    if (channels <= kMostStep) {
      a.vldrb_after(16, q0, r3, channels);
    } else {
      a.vldrb(16, q0, r3);
      a.add(r3, r3, r5);
    }
    a.vadd(16, q1, q1, q0);
  });
  a.le(pixel);
  a.vmovlb(16, q2, q1);
  a.vmovlt(16, q3, q1);
  for (Vec v : {q2, q3}) a.vshl(32, v, v, left - 1);
  for (Vec v : {q2, q3}) a.vqdmulh(32, v, v, r6);
  for (Vec v : {q2, q3}) a.vadd(32, v, v, r7);
  a.narrow(32, q1, q2, std::min(shift, 16));
  a.narrow(32, q1, q3, std::min(shift, 16), true);
  a.narrow(16, q1, q1, std::max(shift - 16, 0));
  if (clamps) {
    a.vmax(8, q1, q1, q4);
    a.vmin(8, q1, q1, q5);
  }
  a.add(r0, r0, MveAverage::kGroup);
  a.vstrb_after(16, q1, r1, MveAverage::kGroup);
  a.subs(r4, r4, 1);
  if (rest == 0) {
    a.b("ne", group);
  } else {
    a.b("gt", group);
    a.b("ne", done);
    a.sub(r0, r0, MveAverage::kGroup - rest);
    a.sub(r1, r1, MveAverage::kGroup - rest);
    a.b(group);
    a.bind(done);
  }
  a.leave();
  return a.finish();
}

}  // namespace aotc::cores::arm
