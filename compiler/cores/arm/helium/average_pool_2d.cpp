// SPDX-License-Identifier: Apache-2.0
// Lowering of int8 average_pool_2d whose one window is the whole image, and the meaning of its kernel.
#include "cores/arm/helium/average.h"

#include <algorithm>

#include "cores/arm/helium/lowerings.h"
#include "ops/pool_2d/pool_2d.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

std::vector<int32_t> mve_average_table(const MveScaling& scaling) {
  std::vector<int32_t> out(MveAverage::kTableWords);
  out[MveAverage::kMultiplier] = scaling.words[0][0];
  out[MveAverage::kOffset] = scaling.words[1][0];
  out[MveAverage::kLeast] = scaling.clamp.min;
  out[MveAverage::kMost] = scaling.clamp.max;
  return out;
}

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
  auto scaling = fit_mve_scaling(what, {static_cast<int32_t>(pixels * average_shift(op))});
  if (!scaling || scaling->form != MveScaling::Form::kLine) return std::nullopt;

  LoweringBuilder f(op, std::string(op.op.name()));
  BufferPtr in = f.operand(0);
  BufferPtr table = f.constant("table", DType::kI32, mve_average_table(*scaling));
  BufferPtr out = f.result(0);
  f.run(mve_average_kernel({pixels, channels}, *scaling), {address(in, 0), address(out, 0), address(table, 0)});
  f.algorithm("vectors");
  return f.finish("eight channels at a time");
}

}  // namespace aotc::cores::arm
