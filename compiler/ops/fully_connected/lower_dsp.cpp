// Lowering of int8 fully_connected onto the pair kernels (ops/common/dsp_gemm.h): a row of the input
// is spread into a panel of halfwords, then eight units at a time are multiplied with it.
#include <fmt/format.h>

#include "ops/common/conv.h"
#include "ops/common/dsp_gemm.h"
#include "ops/common/gemm.h"
#include "ops/fully_connected/fully_connected.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

std::optional<Lowered> lower_fully_connected_dsp(const OpView& op, const TargetInfo&) {
  int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
  int64_t rows = op.operand(0).elements() / depth;
  // Fewer units than a group are not worth the panel.
  if (units < PairGemm::kGemvChannels || depth % 4 != 0 || op.operand(1).zero_point() != 0)
    return std::nullopt;
  std::vector<int8_t> w = op.constant(1)->to_vector<int8_t>();
  std::vector<int64_t> groups = tile_starts(units, PairGemm::kGemvChannels);
  for (int64_t g : groups) {
    std::vector<int8_t> part(w.begin() + g * depth, w.begin() + (g + 8) * depth);
    if (!pairs_fit(part, 8, depth)) return std::nullopt;
  }
  FoldedBias folded = fold_bias(op, units, [&](int64_t u) {
    return std::vector<int32_t>(w.begin() + u * depth, w.begin() + (u + 1) * depth);
  });
  Requantization scaling = fully_connected_scaling(op, folded.ranges);
  scaling.tame_constant_channels(folded.bias);
  auto lines = fit_pair_lines(scaling, folded.bias);
  if (!lines) return std::nullopt;
  PairOrder order;
  for (int i = 0; i < depth; i += 4) {
    order.push_back({i, i + 2});
    order.push_back({i + 1, i + 3});
  }
  auto steps = static_cast<int64_t>(order.size());

  LoweringBuilder f(op, "fully_connected");
  BufferPtr in = f.operand(0);
  BufferPtr stream =
      f.constant("stream", DType::kI32, gemv_stream(w, depth, order, groups, folded.bias, *lines));
  bool sign = lines->sign();
  int64_t whole = units / 8;
  BufferPtr shape = f.constant("shape", DType::kI32, gemv_shape(steps, whole, sign));
  // Units that are left are made again with the ones before them.
  bool rest = units % 8 != 0;
  BufferPtr last = rest ? f.constant("last_shape", DType::kI32, gemv_shape(steps, 1, sign)) : nullptr;
  BufferPtr panel = f.scratch("panel", DType::kI32, steps, 4);
  BufferPtr out = f.result(0);
  tir::KernelPtr gemv = gemv_pairs_kernel(lines->fit.shift, sign);
  int64_t group_words = static_cast<int64_t>(stream->elements) / static_cast<int64_t>(groups.size());
  f.loop("r", 0, rows, [&](Ex r) {
    f.run(pack_run_kernel(1), {address(in, r * depth), address(panel, 0), Ex(depth / 4)});
    f.run(gemv, {address(stream, 0), address(panel, 0), address(out, r * units), address(shape, 0)});
    if (rest)
      f.run(gemv, {address(stream, whole * group_words), address(panel, 0),
                   address(out, r * units + (units - 8)), address(last, 0)});
  });
  // A row is read whole before its results are written.
  WriteOrder write;
  for (int64_t r = 0; r < rows; ++r)
    write.steps.push_back({r * depth, (r + 1) * depth, r * units, (r + 1) * units});
  f.publish(std::move(write));
  f.algorithm("pairs");
  return f.finish(
      fmt::format("8 units, {} steps, shift {}{}", steps, lines->fit.shift, sign ? ", sign" : ""));
}

}  // namespace aotc::ops
