// SPDX-License-Identifier: Apache-2.0
// Kernels with vectors that gather what products read, or fill it.
#include "cores/arm/helium/gemm.h"

#include <algorithm>
#include <array>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/helium/helium.h"
#include "cores/arm/helium/lowerings.h"

namespace aotc::cores::arm {

// r0 x, r1 panel, r2 shape.
Implementation mve_windows(const tir::Kernel& kernel) {
  int rows = parameter(kernel, "rows"), bytes = parameter(kernel, "bytes");
  int vectors = bytes / 16, rest = bytes % 16;
  Helium a;
  Label row = a.label();
  a.note("On entry r0: x, r1: panel, r2: shape. Copies the windows of two pixels, row by row.");
  a.enter(0);
  a.ldrd(r5, r6, r2, MveGemm::kRowStep * 4);  // and from a pixel to the next
  a.ldr(r7, r2, MveGemm::kPanelPixel * 4);
  a.sub(r5, r5, bytes);
  a.add(r3, r0, r6);
  a.add(r4, r1, r7);
  if (rest != 0) {
    a.mov(r12, rest);
    a.vctp(8, r12);
  }
  a.mov(r12, rows);
  a.dls(r12);
  a.bind(row);
  a.repeat(vectors, [&] {
    a.vldrb_after(8, q0, r0, 16);
    a.vldrb_after(8, q1, r3, 16);
    a.vstrb_after(8, q0, r1, 16);
    a.vstrb_after(8, q1, r4, 16);
  });
  if (rest != 0) {
    a.vpst(4);
    a.predicated([&] {
      a.vldrb_after(8, q0, r0, rest);
      a.vldrb_after(8, q1, r3, rest);
      a.vstrb_after(8, q0, r1, rest);
      a.vstrb_after(8, q1, r4, rest);
    });
  }
  a.add(r0, r0, r5);
  a.add(r3, r3, r5);
  a.le(row);
  a.leave();
  return a.finish();
}

namespace {

// r0: the row of x, if it were there, that is the first of a band; r3: its number from the first that is, r8: how many
// are, r9: a row's bytes.
void begin_band(Helium& a, int bytes) {
  a.uxth(r8, r3);
  a.lsr(r3, r3, 16);
  a.mov(r9, bytes);
  a.mls(r0, r3, r9, r0);
  a.mov(r12, 0);
  a.sub(r3, r12, r3);
}

// `to`: the band's next row, or that of padding in r1.
void next_row(Helium& a, Reg to) {
  a.cmp(r3, r8);
  a.csel(to, r0, r1, "lo");
  a.add(r0, r0, r9);
  a.add(r3, r3, 1);
}

}  // namespace

// As begin_band says; r1 the row of padding, r2 where planes go, r4 and up the rows of a plane.
Implementation mve_planes(const tir::Kernel& kernel) {
  const int ways = parameter(kernel, "ways"), bytes = parameter(kernel, "bytes");
  const int vectors = bytes / 16, rest = bytes % 16;
  Helium a;
  Label plane = a.label();
  auto row = [](int i) { return Reg{4 + i}; };
  auto store = [&] {
    for (int part = 0; part < ways; ++part) ways == 2 ? a.vst2_bytes(q0, r2, part) : a.vst4_bytes(q0, r2, part);
  };
  a.note("On entry r0: x, r1: panel, r2: offset, r3: rows. Weaves rows, or the padding that the panel begins with.");
  a.enter(0);
  begin_band(a, bytes);
  a.add(r2, r2, r1);
  if (vectors == 0) {
    a.vldrb(8, q4, r1);
    a.mov(r12, rest);
    a.vctp(8, r12);
  }
  a.mov(r12, parameter(kernel, "planes"));
  a.dls(r12);
  a.bind(plane);
  for (int i = 0; i < ways; ++i) next_row(a, row(i));
  a.repeat(vectors, [&] {
    for (int i = 0; i < ways; ++i) a.vldrb_after(8, Vec{i}, row(i), 16);
    store();
  });
  int woven = 16 * vectors;
  if (vectors == 0) {
    a.vpst(ways);
    a.predicated([&] {
      for (int i = 0; i < ways; ++i) a.vldrb(8, Vec{i}, row(i));
    });
    for (int i = 0; i < ways; ++i) a.vpsel(Vec{i}, Vec{i}, q4);
    store();
    woven = 16;
  } else if (rest != 0) {
    // What remains ends with the rows and overlaps the last vector.
    a.sub(r2, r2, (16 - rest) * ways);
    for (int i = 0; i < ways; ++i) a.vldrb(8, Vec{i}, row(i), rest - 16);
    store();
    woven = bytes;
  }
  if (int gap = parameter(kernel, "pitch") - ways * woven; gap > 0) a.add(r2, r2, gap);
  a.le(plane);
  a.leave();
  return a.finish();
}

// As mve_planes; r2 where a row goes, r4 and r5 its vectors and where they go.
Implementation mve_columns(const tir::Kernel& kernel) {
  const int rows = parameter(kernel, "rows"), bytes = parameter(kernel, "bytes");
  const int channels = parameter(kernel, "channels"), column = rows * channels;
  const int step = 16 / channels * channels, vectors = (bytes - 16) / step + 1;
  const int moves = step / channels * column;
  Helium a;
  Label row = a.label();
  a.note("On entry r0: x, r1: panel, r2: offsets, r3: rows. Stores rows by columns, or the panel's padding.");
  a.enter(0);
  a.vldrb(8, q1, r2);
  a.vldrb(8, q2, r2, 16);
  begin_band(a, bytes);
  a.mov(r2, parameter(kernel, "first"));
  a.add(r2, r2, r1);
  a.mov(r12, rows);
  a.dls(r12);
  a.bind(row);
  next_row(a, r4);
  a.mov(r5, r2);
  a.repeat(vectors, [&] {
    a.vldrb_after(8, q0, r4, step);
    a.vstrb_scatter(8, q0, r5, q1);
    a.add(r5, r5, moves);
  });
  // What remains ends with the row and overlaps the last vector.
  if (const int last = bytes - 16; last > (vectors - 1) * step) {
    a.vldrb(8, q0, r4, last - vectors * step);
    a.sub(r5, r5, vectors * moves - last / channels * column);
    a.vstrb_scatter(8, q0, r5, q2);
  }
  a.add(r2, r2, channels);
  a.le(row);
  a.leave();
  return a.finish();
}

// r0 x, r1 panel, r2 shape, r3 size.
Implementation mve_rows(const tir::Kernel&) {
  Helium a;
  Label row = a.label(), vector = a.label();
  a.enter(0);
  a.ldrd(r4, r5, r2, 0);
  a.lsr(r6, r3, 16);
  a.uxth(r3, r3);
  a.bind(row);
  a.mov(r2, r0);
  a.mov(r12, r1);
  a.dlstp(8, r3);
  a.bind(vector);
  a.vldrb_after(8, q0, r2, 16);
  a.vstrb_after(8, q0, r12, 16);
  a.letp(vector);
  a.add(r0, r0, r4);
  a.add(r1, r1, r5);
  a.subs(r6, r6, 1);
  a.b("ne", row);
  a.leave();
  return a.finish();
}

// r0 panel, r1 value, r2 bytes.
Implementation mve_fill(const tir::Kernel& kernel) {
  Helium a;
  Label vector = a.label();
  a.enter(0);
  a.vdup(has_parameter(kernel, "halves") ? 16 : 8, q0, r1);
  a.dlstp(8, r2);
  a.bind(vector);
  a.vstrb_after(8, q0, r0, 16);
  a.letp(vector);
  a.leave();
  return a.finish();
}

}  // namespace aotc::cores::arm
