// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/row_product.h"

#include <fmt/format.h>

#include "cores/arm/dsp/window_sums.h"
#include "cores/arm/generated/dsp_clamp.h"
#include "ops/common/gemm.h"
#include "ops/common/hybrid.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

int64_t row_product_group(bool words) { return words ? PairGemm::kWordsGemvChannels : PairGemm::kGemvChannels; }

bool row_product_words(int64_t depth, const TargetInfo& target) {
  return words_allowed(target) && depth % (2 * PairGemm::kWordsGemvSteps) == 0;
}

std::optional<Lowered> lower_row_product(const OpView& op, const TargetInfo& target, RowProduct product) {
  const int64_t units = product.units, depth = product.depth, rows = product.rows;
  const bool words = row_product_words(depth, target);
  const int64_t size = row_product_group(words);
  PairOrder order = row_order(0, depth);
  const auto row_steps = static_cast<int64_t>(order.size());
  auto stored = weights_with_sums(op, units, depth, order);
  if (!stored) return std::nullopt;
  // Kernels take steps in twos, or in fours; row_steps are.
  while (order.size() % (words ? PairGemm::kWordsGemvSteps : 2) != 0) order.push_back({-1, -1});
  auto steps = static_cast<int64_t>(order.size());
  const std::vector<int8_t>& w = stored->weights;
  std::vector<int64_t> groups = tile_starts(units, size);
  std::vector<int32_t>& bias = product.folded.bias;
  auto lines = fit_pair_lines(product.scaling, bias, PairGemm::kLeft, target.fpu);
  if (!lines || (!words && !pairs_fit(w, groups, size, stored->k, *lines))) return std::nullopt;

  LoweringBuilder f(op, product.name);
  BufferPtr in = f.operand(0);
  auto make_stream = words ? gemm_words_stream : gemm_stream;
  auto make_shape = words ? gemv_words_shape : gemv_shape;
  BufferPtr stream = f.constant("stream", DType::kI32, make_stream(w, stored->k, order, groups, bias, *lines, size));
  bool sign = lines->sign();
  int64_t whole = units / size;
  const Turns turns = turns_of(whole, target.costs.of(gemv_work(words, steps, 1, sign)), target);
  auto shape_of = [&](int64_t count) { return make_shape(steps, count, sign); };
  const TurnTables shapes(f, turns, "shape", shape_of);
  // Units that are left are made again with the ones before them.
  bool rest = units % size != 0;
  BufferPtr last = rest ? f.constant("last_shape", DType::kI32, shape_of(1)) : nullptr;
  BufferPtr panel = f.scratch("panel", DType::kI32, steps, 4);
  BufferPtr out = f.result(0);
  tir::KernelPtr gemv = words ? gemv_words_kernel(lines->fit.shift, sign) : gemv_pairs_kernel(lines->fit.shift, sign);
  int64_t group_words = static_cast<int64_t>(stream->elements) / static_cast<int64_t>(groups.size());
  f.loop("r", 0, rows, [&](Ex r) {
    f.run(pack_run_kernel(1), {address(in, r * depth), address(panel, 0), Ex(depth / 4)});
    emit_window_sums(f, {panel, 1, row_steps, steps - row_steps});
    f.take_turns(turns, [&](const Ex& first, int64_t count) {
      f.run(gemv, {address(stream, first * group_words), address(panel, 0), address(out, r * units + first * size),
                   address(shapes.of(count), 0)});
    });
    if (rest)
      f.run(gemv, {address(stream, whole * group_words), address(panel, 0), address(out, r * units + (units - size)),
                   address(last, 0)});
  });
  Work work = (gemv_work(words, steps, (units + size - 1) / size, sign) + pack_work(1, depth / 4, 1)) *
              static_cast<double>(rows);
  work += emit_byte_clamp(f, out, lines->clamp, target);
  publish_batches(f, op, rows);
  f.algorithm(words ? "words" : "pairs");
  if (!words) f.choice("units", size);
  f.estimate(work, target);
  return f.finish(fmt::format("{} units, {} steps, {}{}", size, steps, form_text(*lines),
                              steps > row_steps ? ", sum of the row" : ""));
}

}  // namespace aotc::cores::arm
