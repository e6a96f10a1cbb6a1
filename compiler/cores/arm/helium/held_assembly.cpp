// SPDX-License-Identifier: Apache-2.0
// Products whose weights stay in q2 to q5. What the kernel does is said by its meaning in cores/arm/helium/held.cpp.
#include "cores/arm/helium/held.h"

#include <algorithm>
#include <array>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/helium/helium.h"
#include "cores/arm/helium/lowerings.h"

namespace aotc::cores::arm {

// r0 stream, r1 x, r2 out, r3 shape. Then r9 is the pixel, r1 the output, r3 its step, r5 the stream, r7 counts tiles,
// r11 is the shape; q6 and q7 are multiplier and offset.
Implementation mve_held(const tir::Kernel& kernel) {
  constexpr int kEnd = 0, kLocals = 4;
  const int blocks = parameter(kernel, "blocks"), first = parameter(kernel, "first");
  const int step = parameter(kernel, "step"), left = parameter(kernel, "left"), shift = parameter(kernel, "shift");
  const int group_size = MveHeld::kVectors / blocks;
  const bool part = blocks == 1 && first < MveGemm::kBlock;
  Helium a;
  Label group = a.label(), tile = a.label();
  a.note("On entry r0: weights, r1: x, r2: out, r3: shape.");
  a.enter(kLocals);
  a.mov(r11, r3);
  a.mov(r9, r1);
  a.mov(r1, r2);
  a.mov(r5, r0);
  a.ldr(r4, r11, MveHeld::kStreamBytes * 4);
  a.add(r4, r4, r0);
  a.str(r4, sp, kEnd);
  a.ldr(r3, r11, MveHeld::kOutStep * 4);
  if (part) {
    a.mov(r0, first);
    a.vctp(8, r0);
  }
  a.note("For every group of channels, whose weights are loaded once. r9: the pixels, r1: out.");
  a.bind(group);
  for (int i = 0; i < MveHeld::kVectors; ++i) a.vldrw_after(Vec{2 + i}, r5, 16);
  for (Vec v : {q6, q7}) a.vldrw_after(v, r5, 16);
  a.ldr(r7, r11, MveHeld::kTiles * 4);
  a.note("For every eight sums, r0, r2 to r12 and lr.");
  a.bind(tile);
  if (part) {
    a.vpst(2);
    a.predicated([&] {
      for (Vec v : {q0, q1}) a.vldrb_after(8, v, r9, step);
    });
  }
  auto load = [&](Vec x, int block) {
    a.vldrb_after(8, x, r9, block + 1 < blocks ? first : step - (blocks - 1) * first);
  };
  auto gather = [&](Vec d, size_t from) {
    a.gather(d, kSums[from], kSums[from + 1], kSums[from + 2], kSums[from + 3]);
  };
  auto multiply = [&](int pixel, int block, Vec x, auto between) {
    for (int c = 0; c < group_size; ++c) {
      const Reg to = kSums[static_cast<size_t>(pixel * group_size + c)];
      const Vec w = {2 + block * group_size + c};
      block == 0 ? a.vmladav(to, x, w) : a.vmladava(to, x, w);
      if (c == 0) between();
    }
  };
  // While q1 is multiplied, q0 is requantised: neighbours should not want the same unit.
  if (blocks == 1) {
    if (!part) load(q0, 0);
    multiply(0, 0, q0, [&] {
      if (!part) load(q1, 0);
    });
    gather(q0, 0);
    multiply(1, 0, q1, [&] { a.vshl(32, q0, q0, left); });
  } else {
    for (int i = 0; i < 4; ++i) {
      load(i % 2 == 0 ? q0 : q1, i % 2);
      multiply(i / 2, i % 2, i % 2 == 0 ? q0 : q1, [] {});
    }
    gather(q0, 0);
    for (int i = 0; i < 4; ++i) {
      load(q1, i % 2);
      multiply(2 + i / 2, i % 2, q1, [&] {
        if (i == 0) a.vshl(32, q0, q0, left);
      });
    }
  }
  gather(q1, 4);
  a.vmulh(32, q0, q0, q6);
  a.vshl(32, q1, q1, left);
  a.vmulh(32, q1, q1, q6);
  for (Vec v : {q0, q1}) a.vadd(32, v, v, q7);
  a.narrow(32, q0, q0, std::min(shift, 16));
  a.narrow(32, q0, q1, std::min(shift, 16), true);
  a.vldrw(q1, r11, MveHeld::kPlaces * 4);
  a.narrow(16, q0, q0, std::max(shift - 16, 0));
  a.vstrb_scatter(16, q0, r1, q1);
  a.add(r1, r1, r3);
  a.subs(r7, r7, 1);
  a.b("ne", tile);
  a.ldrd(r0, r2, r11, MveHeld::kXBack * 4);
  a.add(r9, r9, r0);
  a.add(r1, r1, r2);
  a.ldr(r0, sp, kEnd);
  a.cmp(r5, r0);
  a.b("ne", group);
  a.leave();
  return a.finish();
}

}  // namespace aotc::cores::arm
