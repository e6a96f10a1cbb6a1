// SPDX-License-Identifier: Apache-2.0
// Lowering of int8 fully_connected onto products of a row with four units at a time
// (ops/common/quad_gemv.h).
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/gemm.h"
#include "ops/common/quad_gemv.h"
#include "ops/common/quad_kernel.h"
#include "ops/fully_connected/fully_connected.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

// Rows by the core's kernel.
std::optional<Lowered> lower_by_kernel(const OpView& op, const QuadGemv& plan, const QuadKernelFit& fit,
                                       const std::vector<int32_t>& bias) {
  const QuadKernel& kernel = fit.kernel;
  const int64_t units = op.operand(1).shape[0], depth = plan.depth, tile = kernel.units();
  const int64_t rows = op.operand(0).elements() / depth, whole = units / tile;
  LoweringBuilder f(op, "fully_connected");
  BufferPtr in = f.operand(0);
  std::vector<int64_t> first;
  for (int64_t t = 0; t < whole; ++t) first.push_back(t * tile);
  std::vector<int32_t> words = kernel.stream(plan, first, bias, fit.lines);
  const auto last_at = static_cast<int64_t>(words.size());
  // Units that are left are made again with the ones before them.
  const bool rest = units % tile != 0;
  if (rest) {
    const std::vector<int32_t> last = kernel.stream(plan, {units - tile}, bias, fit.lines);
    words.insert(words.end(), last.begin(), last.end());
  }
  BufferPtr stream = f.constant("stream", DType::kI32, words);
  BufferPtr starts = f.scratch("starts", DType::kI32, quad_scratch_words(plan), 4);
  BufferPtr out = f.result(0);
  tir::KernelPtr quads = kernel.kernel();
  f.loop("r", 0, rows, [&](Ex r) {
    Ex row = f.let("row", r * depth);
    emit_quad_starts(f, plan, starts, in, row);
    f.run(quads, {address(stream, 0), address(in, row), address(out, r * units), address(starts, 0)});
    if (rest)
      f.run(quads,
            {address(stream, last_at), address(in, row), address(out, r * units + (units - tile)), address(starts, 0)});
  });
  f.algorithm("quads");
  f.choice("group", plan.group);
  const std::string cut = plan.rests.empty() ? "" : fmt::format("{} weights cut, ", plan.rests.size());
  return f.finish(fmt::format("{}{} units, shift {}{}", cut, tile, fit.lines.shift, kernel.sign ? ", sign" : ""));
}

}  // namespace

std::optional<Lowered> lower_fully_connected_quad(const OpView& op, const TargetInfo& target) {
  int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
  int64_t rows = op.operand(0).elements() / depth;
  if (!target.quad_units || op.operand(1).zero_point() != 0 || has_uint8_weights(op)) return std::nullopt;
  std::vector<int8_t> w = op.constant(1)->to_vector<int8_t>();
  auto plan = plan_quads(w, units, depth, target);
  // A gain of a few per cent is not worth the scratch.
  if (!plan) return std::nullopt;
  bool asked = target.asked && target.asked->algorithm == "quads";
  const auto [folded, scaling] = folded_scaling(op, w);
  std::vector<int32_t> of_lines = folded.bias;
  if (auto fit = fit_quad_kernel(*plan, units, scaling, of_lines, target))
    if (asked || fit->kernel.cost(*plan, units, target) < plain_row_cost(units, depth, target))
      return lower_by_kernel(op, *plan, *fit, of_lines);
  if (!asked && quad_cost(*plan, units, target) * 9 / 8 >= plain_row_cost(units, depth, target)) return std::nullopt;

  LoweringBuilder f(op, "fully_connected");
  BufferPtr in = f.operand(0);
  QuadBuffers buffers = make_quad_buffers(f, *plan, units, folded.bias);
  Requantizer requantizer(f, scaling);
  BufferPtr out = f.result(0);
  requantizer.begin(f);
  f.loop("r", 0, rows, [&](Ex r) {
    Ex row = f.let("row", r * depth);
    emit_quad_starts(f, *plan, buffers.starts, in, row);
    f.loop(
        "u", 0, units,
        [&](Ex u) {
          constexpr int64_t kUnits = QuadGemv::kUnits;
          Ex unit = units % kUnits == 0 ? u : f.let("unit", min(u, Ex(units - kUnits)));
          // u is a multiple of 4, so tile number * depth is u / 4 * depth.
          Ex base = f.let("wi", (u >> 2) * depth);
          std::vector<Ex> acc = emit_quad_tile(f, *plan, buffers, in, row, base, unit);
          for (int64_t c = 0; c < kUnits; ++c) {
            Requantizer::Channel scale = requantizer.prepare(f, unit + c);
            f.store(out, r * units + unit + c, requantizer.emit(f, acc[static_cast<size_t>(c)], scale));
          }
        },
        QuadGemv::kUnits);
  });
  f.algorithm("quads");
  f.choice("group", plan->group);
  std::string cut = plan->rests.empty() ? "" : fmt::format("{} weights cut, ", plan->rests.size());
  return f.finish(fmt::format("{}{}", cut, requantizer.form()));
}

}  // namespace aotc::ops
