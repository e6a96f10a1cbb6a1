// SPDX-License-Identifier: Apache-2.0
// Lowering of int16 fully_connected onto the kernel of halves (cores/arm/dsp/gemm16.h): it leaves the sums
// of a row in scratch, where a loop scales them.
#include <fmt/format.h>

#include "cores/arm/dsp/gemm16.h"
#include "cores/arm/dsp/lowerings.h"
#include "ops/common/gemm.h"
#include "ops/common/hybrid.h"
#include "ops/fully_connected/fully_connected.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

std::optional<Lowered> lower_fully_connected_dsp16(const OpView& op, const TargetInfo& target) {
  constexpr int64_t kGroup = HalvesGemm::kGemvChannels;
  int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
  int64_t rows = op.operand(0).elements() / depth, steps = depth / 2;
  WideScaling scaling = fully_connected_wide_scaling(op);
  if (units < kGroup || depth % 2 != 0 || op.operand(1).zero_point() != 0 || scaling.wide()) return std::nullopt;
  const std::vector<int32_t> bias(scaling.bias.begin(), scaling.bias.end());
  std::vector<int64_t> groups = tile_starts(units, kGroup);
  std::vector<int32_t> words = halves_vector_stream(op.constant(1)->to_vector<int8_t>(), depth, groups, bias);
  auto group_words = static_cast<int64_t>(words.size() / groups.size());

  LoweringBuilder f(op, "fully_connected");
  BufferPtr in = f.operand(0);
  BufferPtr stream = f.constant("stream", DType::kI32, words);
  int64_t whole = units / kGroup;
  const Turns turns = turns_of(whole, target.costs.of(halves_vector_work(steps, 1)), target);
  auto shape_of = [&](int64_t count) { return halves_vector_shape(steps, count); };
  const TurnTables shapes(f, turns, "shape", shape_of);
  // Units that are left are made again with the ones before them.
  bool rest = units % kGroup != 0;
  BufferPtr last = rest ? f.constant("last_shape", DType::kI32, shape_of(1)) : nullptr;
  WideRequantizer requantizer(f, scaling);
  BufferPtr sums = f.scratch("sums", DType::kI32, units, 4);
  BufferPtr out = f.result(0);
  requantizer.begin(f);
  f.loop("r", 0, rows, [&](Ex r) {
    Ex row = f.let("row", r * depth), to = f.let("to", r * units);
    f.take_turns(turns, [&](const Ex& first, int64_t count) {
      f.run(gemv_halves_kernel(), {address(stream, first * group_words), address(in, row),
                                   address(sums, first * kGroup), address(shapes.of(count), 0)});
    });
    if (rest)
      f.run(gemv_halves_kernel(),
            {address(stream, whole * group_words), address(in, row), address(sums, units - kGroup), address(last, 0)});
    f.loop("u", 0, units, [&](Ex u) {
      f.store(out, to + u, requantizer.emit(f, f.let("sum", load(sums, u)), requantizer.prepare(f, u)));
    });
  });
  publish_batches(f, op, rows);
  Work scale{.load = 4, .store = 1, .alu = 10, .high = 2, .branch = 1};
  Work work = (halves_vector_work(steps, static_cast<int64_t>(groups.size())) + scale * static_cast<double>(units)) *
              static_cast<double>(rows);
  f.algorithm("halves");
  f.estimate(work, target);
  return f.finish(fmt::format("{} steps, {}", steps, requantizer.form()));
}

}  // namespace aotc::cores::arm
