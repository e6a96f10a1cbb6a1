// SPDX-License-Identifier: Apache-2.0
// Lowering of int8 average_pool_2d whose one window is the whole image, the meaning of its kernel and its assembly:
// sums of eight channels in lanes of 16 bits. If the channels are no multiple of eight, the last group overlaps the one
// before it.
#include <algorithm>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/helium/gemm.h"
#include "cores/arm/helium/helium.h"
#include "cores/arm/helium/lowerings.h"
#include "ops/pool_2d/pool_2d.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

namespace {

struct MveAverage {
  static constexpr int kGroup = 8;             // channels
  static constexpr int64_t kMostPixels = 255;  // whose sum fits 16 bits
  // Words of the table that mve_average takes.
  enum Table { kMultiplier, kOffset, kLeast, kMost, kTableWords };
  int64_t pixels = 1, channels = kGroup;
};

std::vector<int32_t> mve_average_table(const MveScaling& scaling) {
  std::vector<int32_t> out(MveAverage::kTableWords);
  out[MveAverage::kMultiplier] = scaling.words[0][0];
  out[MveAverage::kOffset] = scaling.words[1][0];
  out[MveAverage::kLeast] = scaling.clamp.min;
  out[MveAverage::kMost] = scaling.clamp.max;
  return out;
}

// (x, out, table): of pixels of `channels` bytes, at least eight. The scaling is a line.
tir::KernelPtr mve_average_kernel(const MveAverage& what, const MveScaling& scaling) {
  constexpr int64_t kGroup = MveAverage::kGroup;
  FunctionBuilder f("mve_average");
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  BufferPtr table = f.constant("table", DType::kI32, 0);
  Ex m = f.let("m", cast(DType::kI64, load(table, MveAverage::kMultiplier)));
  Ex offset = f.let("offset", load(table, MveAverage::kOffset));
  Ex least = scaling.clamps() ? f.let("least", load(table, MveAverage::kLeast)) : Ex(-128);
  Ex most = scaling.clamps() ? f.let("most", load(table, MveAverage::kMost)) : Ex(127);
  f.loop("group", 0, (what.channels + kGroup - 1) / kGroup, [&](Ex group) {
    Ex first = group * kGroup;
    if (what.channels % kGroup != 0) first = f.let("first", min(first, what.channels - kGroup));
    f.loop("c", 0, kGroup, [&](Ex c) {
      Ex sum = f.var("sum", 0);
      f.loop("i", 0, what.pixels, [&](Ex i) { f.assign(sum, sum + load(x, first + c + i * what.channels)); });
      Ex product = f.let("product", cast(DType::kI64, shl_wrapping(sum, scaling.left)) * m);
      Ex high = cast(DType::kI32, product >> tir::i64(32));
      Ex v = f.let("v", (high + offset + mve_rounding(scaling.shift)) >> scaling.shift);
      f.store(out, first + c, clamp(v, least, most));
    });
  });
  return f.finish_kernel("mve_average", {{"pixels", what.pixels},
                                         {"channels", what.channels},
                                         {"left", scaling.left},
                                         {"shift", scaling.shift},
                                         {"clamps", scaling.clamps()}});
}

}  // namespace

std::optional<Lowered> lower_average_pool_2d_mve(const OpView& op, const TargetInfo& target) {
  const Window window = pool_window(op);
  const int64_t channels = op.operand(0).shape[3], pixels = window.y.in * window.x.in;
  auto whole = [](const WindowAxis& a) { return a.out == 1 && a.kernel == a.in && a.pad_before == 0; };
  if (window.batch != 1 || !whole(window.y) || !whole(window.x) || channels < MveAverage::kGroup ||
      pixels > MveAverage::kMostPixels)
    return std::nullopt;
  // A vector of each pixel, and what turns sums into averages.
  const int64_t cost = (channels + MveAverage::kGroup - 1) / MveAverage::kGroup * (3 * pixels + 20);
  if (target.slice > 0 && cost > target.slice / 2) return std::nullopt;
  const Requantization what = average_scaling(op, {window.y.in, window.y.in}, {window.x.in, window.x.in});
  auto scaling = fit_mve_scaling(what, {static_cast<int32_t>(pixels * average_shift(op))}, target);
  if (!scaling || scaling->form != MveScaling::Form::kLine) return std::nullopt;

  LoweringBuilder f(op, std::string(op.op.name()));
  BufferPtr in = f.operand(0);
  BufferPtr table = f.constant("table", DType::kI32, mve_average_table(*scaling));
  BufferPtr out = f.result(0);
  f.run(mve_average_kernel({pixels, channels}, *scaling), {address(in, 0), address(out, 0), address(table, 0)});
  f.algorithm("vectors");
  return f.finish("eight channels at a time");
}

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
