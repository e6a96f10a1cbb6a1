// SPDX-License-Identifier: Apache-2.0
// Lowering of int8 fully_connected onto the pair kernels (cores/arm/dsp/gemm.h): a row of the input
// is spread into a panel of halfwords, then eight units at a time are multiplied with it, or four where
// speed is wanted more than a small table. Few units take the row as it is, four at a time. Weights of 4 bits go by
// cores/arm/dsp/nibbles.h.
#include <fmt/format.h>

#include "cores/arm/dsp/gemm.h"
#include "cores/arm/dsp/gemv_quads.h"
#include "cores/arm/dsp/lowerings.h"
#include "cores/arm/dsp/nibbles.h"
#include "cores/arm/dsp/row_product.h"
#include "cores/arm/generated/dsp_clamp.h"
#include "cores/instruction_counter.h"
#include "ops/common/conv.h"
#include "ops/common/gemm.h"
#include "ops/common/hybrid.h"
#include "ops/fully_connected/fully_connected.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

std::optional<Lowered> lower_fully_connected_nibbles(const OpView& op, const TargetInfo& target) {
  int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
  int64_t rows = op.operand(0).elements() / depth;
  if (units < 4 || depth % 4 != 0) return std::nullopt;
  std::vector<int8_t> w = op.constant(1)->to_vector<int8_t>();
  auto [folded, scaling] = folded_scaling(op, w);
  auto lines = fit_nibble_lines(scaling, folded.bias);
  if (!lines) return std::nullopt;
  PairOrder order = row_order(0, depth);
  auto steps = static_cast<int64_t>(order.size());
  NibbleTile tile{1, units < 8 || units % 8 == 4 ? 4 : 8, !lines->bias.empty()};
  std::vector<int64_t> groups = tile_starts(units, tile.channels);
  bool sign = lines->lines.sign();

  LoweringBuilder f(op, "fully_connected");
  BufferPtr in = f.operand(0);
  std::vector<int32_t> words = nibble_stream(w, depth, order, groups, tile.channels, *lines);
  int64_t group_words = static_cast<int64_t>(words.size() / groups.size());
  BufferPtr stream = f.constant("stream", DType::kI32, words);
  int64_t whole = units / tile.channels;
  const Turns turns = turns_of(whole, target.costs.of(nibble_work(tile, steps, 1, sign)), target);
  auto shape_of = [&](int64_t count) { return nibble_shape(steps, count, units, tile, sign); };
  const TurnTables shapes(f, turns, "shape", shape_of);
  // Units that are left are made again with the ones before them.
  bool rest = units % tile.channels != 0;
  BufferPtr last = rest ? f.constant("last_shape", DType::kI32, shape_of(1)) : nullptr;
  BufferPtr panel = f.scratch("panel", DType::kI32, steps, 4);
  BufferPtr out = f.result(0);
  tir::KernelPtr gemm = gemm_nibbles_kernel(tile, lines->lines.fit.shift, sign);
  f.loop("r", 0, rows, [&](Ex r) {
    f.run(pack_run_kernel(1), {address(in, r * depth), address(panel, 0), Ex(depth / 4)});
    f.take_turns(turns, [&](const Ex& first, int64_t count) {
      f.run(gemm, {address(stream, first * group_words), address(panel, 0),
                   address(out, r * units + first * tile.channels), address(shapes.of(count), 0)});
    });
    if (rest)
      f.run(gemm, {address(stream, whole * group_words), address(panel, 0),
                   address(out, r * units + (units - tile.channels)), address(last, 0)});
  });
  Work work = (nibble_work(tile, steps, static_cast<int64_t>(groups.size()), sign) + pack_work(1, depth / 4, 1)) *
              static_cast<double>(rows);
  work += emit_byte_clamp(f, out, lines->lines.clamp, target);
  publish_batches(f, op, rows);
  f.algorithm("nibbles");
  f.estimate(work, target);
  return f.finish(fmt::format("{} units, {} steps, shift {}{}", tile.channels, steps, lines->lines.fit.shift,
                              sign ? ", sign" : ""));
}

namespace {

// Fewer units than a group are not worth the panel.
bool groups_serve(const OpView& op, int64_t group) {
  const graph::Shape& weights = op.operand(1).shape;
  return weights[0] >= group && weights[1] % 4 == 0 && (op.operand(1).zero_point() == 0 || has_uint8_weights(op));
}

std::optional<Lowered> lower_rows(const OpView& op, const TargetInfo& target) {
  const int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
  const bool words = row_product_words(depth, target);
  if ((!words && !target.allows("pairs")) || !groups_serve(op, row_product_group(words))) return std::nullopt;
  auto [folded, scaling] = folded_scaling(op, centred_weights(op));
  return lower_row_product(op, target,
                           {"fully_connected", units, depth, op.operand(0).elements() / depth, folded, scaling});
}

// Where lower_rows can do it as well, eight at a time need fewer instructions if there are many units. The smaller
// kernel is taken where it costs little; a layer of eight units, or of many, is one of a network that needs the other
// kernel anyway.
bool prefers_quads(int64_t units, int64_t depth, int64_t rows, const QuadsLines& fit, const TargetInfo& target) {
  constexpr double kLittle = 300;
  constexpr int64_t kQuad = GemvQuads::kChannels, kEight = PairGemm::kGemvChannels, kMany = 64;
  if (units < kEight || fit.form.bytes) return true;
  if (units == kEight || units >= kMany) return false;
  const bool sign = fit.lines.sign();
  const Work quads = quads_work(depth / 4, (units + kQuad - 1) / kQuad, sign, fit.form);
  const Work eights = gemv_work(false, depth / 2, (units + kEight - 1) / kEight, sign) + pack_work(1, depth / 4, 1);
  return (target.costs.of(quads) - target.costs.of(eights)) * static_cast<double>(rows) < kLittle;
}

// A row is read until its last units are written.
void publish_mixed_rows(LoweringBuilder& f, const OpView& op, int64_t rows) {
  if (rows > WriteOrder::kMostSteps) return;
  const int64_t in = op.operand(0).bytes() / rows, out = op.result().bytes() / rows;
  WriteOrder order;
  for (int64_t r = 0; r < rows; ++r) order.steps.push_back({r * in, (r + 1) * in, r * out, (r + 1) * out});
  f.publish(std::move(order));
}

std::optional<Lowered> lower_quads(const OpView& op, const TargetInfo& target) {
  constexpr int64_t kSize = GemvQuads::kChannels;
  const int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
  const int64_t rows = op.operand(0).elements() / depth, words = depth / 4;
  if (!target.allows("pairs") || !groups_serve(op, kSize)) return std::nullopt;
  const ops::StoredWeights stored(op);
  const std::vector<int64_t> groups = tile_starts(units, kSize);
  if (stored.correction != 0) return std::nullopt;
  auto [folded, scaling] = folded_scaling(op, centred_weights(op));
  const auto fit = fit_quads(stored.values, groups, depth, scaling, folded.bias, target.fpu);
  if (!fit) return std::nullopt;
  const QuadsForm& form = fit->form;
  const bool sign = fit->lines.sign();
  if (target.wish("units", prefers_quads(units, depth, rows, *fit, target) ? kSize : PairGemm::kGemvChannels, kSize,
                  PairGemm::kGemvChannels) != kSize)
    return std::nullopt;

  LoweringBuilder f(op, "fully_connected");
  BufferPtr in = f.operand(0);
  BufferPtr stream = f.constant("stream", DType::kI32, quads_stream(stored.values, depth, groups, folded.bias, *fit));
  const int64_t whole = units / kSize;
  const int64_t group_words = static_cast<int64_t>(stream->elements) / static_cast<int64_t>(groups.size());
  const Turns turns = turns_of(whole, target.costs.of(quads_work(words, 1, sign, form)), target);
  const TurnTables shapes(f, turns, "shape", [&](int64_t count) { return quads_shape(words, count, sign, form); });
  // Units that are left are made again with the ones before them.
  const bool rest = units % kSize != 0;
  BufferPtr last = rest ? f.constant("last_shape", DType::kI32, quads_shape(words, 1, sign, form)) : nullptr;
  BufferPtr out = f.result(0);
  tir::KernelPtr gemv = gemv_quads_kernel(fit->lines.fit.shift, sign, form);
  f.loop("r", 0, rows, [&](Ex r) {
    f.take_turns(turns, [&](const Ex& first, int64_t count) {
      f.run(gemv, {address(stream, first * group_words), address(in, r * depth),
                   address(out, r * units + first * kSize), address(shapes.of(count), 0)});
    });
    if (rest)
      f.run(gemv, {address(stream, whole * group_words), address(in, r * depth),
                   address(out, r * units + (units - kSize)), address(last, 0)});
  });
  Work work = quads_work(words, static_cast<int64_t>(groups.size()), sign, form) * static_cast<double>(rows);
  work += emit_byte_clamp(f, out, fit->lines.clamp, target);
  publish_mixed_rows(f, op, rows);
  f.algorithm("pairs");
  f.choice("units", kSize);
  f.estimate(work, target);
  return f.finish(
      fmt::format("{} units, {} words{}, {}", kSize, words, form.bytes ? " by bytes" : "", form_text(fit->lines)));
}

}  // namespace

std::optional<Lowered> lower_fully_connected_dsp(const OpView& op, const TargetInfo& target) {
  const bool words_asked = target.asked && target.asked->algorithm == "words";
  std::optional<Lowered> quads = words_asked ? std::nullopt : lower_quads(op, target);
  if (quads && target.level != Level::kSpeed) return quads;
  std::optional<Lowered> rows = faster_form(op, target, lower_rows);
  if (!quads || !rows) return quads ? std::move(quads) : std::move(rows);
  return cost_of(*quads, target).cycles <= cost_of(*rows, target).cycles ? std::move(quads) : std::move(rows);
}

}  // namespace aotc::cores::arm
