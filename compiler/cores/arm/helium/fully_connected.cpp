// SPDX-License-Identifier: Apache-2.0
// Lowering of fully_connected of bytes and half words onto the vector kernels (cores/arm/helium/gemm.h), which read
// rows of the input where they are: one row by eight units at a time, several by pairs.
#include <fmt/format.h>

#include "cores/arm/helium/gemm.h"
#include "cores/arm/helium/lowerings.h"
#include "cores/arm/helium/wide_rows.h"
#include "ops/common/conv_order.h"
#include "ops/common/hybrid.h"
#include "ops/fully_connected/fully_connected.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

Lowered lower_as_wide_rows(const OpView& op, const TargetInfo& target) {
  const int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
  const int64_t rows = op.operand(0).elements() / depth;
  const WideScaling scaling = fully_connected_wide_scaling(op);
  LoweringBuilder f(op, "fully_connected");
  BufferPtr in = f.operand(0);
  MveWideRows product(f, scaling, op.constant(1)->to_vector<int8_t>(), units, target, false);
  BufferPtr out = f.result(0);
  product.begin();
  f.loop("r", 0, rows, [&](Ex r) { product.run(in, f.let("row", r * depth), out, f.let("to", r * units)); });
  publish_batches(f, op, rows);
  f.algorithm("vectors");
  return f.finish(product.how());
}

std::optional<MveScaling> scaling_of(const OpView& op, const TargetInfo& target) {
  if (op.operand(0).dtype == DType::kI16) return fit_mve_halves(fully_connected_wide_scaling(op));
  auto [folded, what] = folded_scaling(op, centred_weights(op));
  return fit_mve_scaling(what, folded.bias, target);
}

}  // namespace

std::optional<Lowered> lower_fully_connected_mve(const OpView& op, const TargetInfo& target) {
  const int64_t bytes = op.operand(0).dtype == DType::kI16 ? 2 : 1;
  int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
  int64_t rows = op.operand(0).elements() / depth;
  MveBlocks blocks(1, depth, false, bytes);
  bool pairs = rows > 1;
  if (depth * bytes > MveGemm::kMostGemvElements) return std::nullopt;
  if (pairs && (units < MveGemm::kGroup || !blocks.fit_gemm())) return std::nullopt;
  auto w = mve_weights(op, depth);
  if (!w) return std::nullopt;
  auto scaling = scaling_of(op, target);
  if (!scaling || (bytes > 1 && !w->sums.empty())) return std::nullopt;
  if (units < MveGemm::kGroup && scaling->adds_zero_point()) return std::nullopt;
  scaling->window_sums = !w->sums.empty();

  LoweringBuilder f(op, "fully_connected");
  BufferPtr in = f.operand(0);
  auto make_stream = pairs ? mve_gemm_stream : mve_gemv_stream;
  BufferPtr stream = f.constant("stream", DType::kI32, make_stream(*w, units, blocks, *scaling));
  BufferPtr out = f.result(0);
  // Units or pairs of rows, turn after turn; units that are left over come with the last ones.
  const double group = 14.0 * static_cast<double>(blocks.count());
  const bool whole = units % MveGemm::kGroup == 0 && !scaling->window_sums;
  const Turns turns = pairs   ? turns_of(rows / 2, group * static_cast<double>((units + 3) / 4), target)
                      : whole ? turns_of(units, group / MveGemm::kGroup, target, MveGemm::kGroup)
                              : Turns{units, 1, 0};
  tir::KernelPtr kernel = pairs ? mve_gemm_kernel(blocks, units, *scaling) : mve_gemv_kernel(blocks, units, *scaling);
  auto shape_of = [&](int64_t count) {
    MvePixels pixels{pairs ? count : 1, depth * bytes, units * bytes, 2 * depth * bytes, 2 * units * bytes};
    return mve_shape(pixels, blocks, pairs ? units : count, *scaling);
  };
  auto run = [&](const Ex& first, const BufferPtr& shape) {
    if (pairs) {
      f.run(kernel, {address(stream, 0), address(in, first * depth), address(out, first * units), address(shape, 0)});
    } else {
      const auto unit_words = static_cast<int64_t>(stream->elements) / units;
      f.run(kernel, {address(stream, first * unit_words), address(in, 0), address(out, first), address(shape, 0)});
    }
  };
  const TurnTables shapes(f, turns, "shape", shape_of);
  f.take_turns(turns, [&](const Ex& first, int64_t count) { run(pairs ? first * 2 : first, shapes.of(count)); });
  if (pairs && rows % 2 == 1) run(rows - 2, f.constant("last_shape", DType::kI32, shape_of(1)));
  if (pairs)
    if (auto order = pointwise_order(rows, 2, {depth * bytes, units * bytes}, false, true))
      f.publish(std::move(*order));
  f.algorithm("vectors");
  return f.finish(fmt::format("{}, {} blocks, {}", pairs ? "2x4" : "1x8", blocks.count(), scaling->text()));
}

std::optional<Lowered> lower_fully_connected_mve16(const OpView& op, const TargetInfo& target) {
  if (op.operand(1).zero_point() != 0) return std::nullopt;
  // The kernel scales where one rounding is the rule.
  if (auto scaled = lower_fully_connected_mve(op, target)) return scaled;
  return lower_as_wide_rows(op, target);
}

}  // namespace aotc::cores::arm
