// SPDX-License-Identifier: Apache-2.0
// fully_connected_blocks: float rows times weights of 4 bits, of which every block of a row has a scale of its own. The
// one thing to know: this is LiteRT's arithmetic to the bit. A row is quantised with a zero point when it is known, a
// block is a sum of integers, and what is added in float32 is blocks, from the first on; the zero point is taken off
// behind that.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/conv.h"
#include "ops/common/hybrid.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/common/nibbles.h"
#include "ops/fully_connected/fully_connected.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

bool check_unit_bias(const OpView& op, size_t bias, Diagnostics& diags) {
  const graph::Shape wanted = {op.operand(1).shape[0]};
  return !op.has_operand(bias) || op.operand(bias).shape == wanted ||
         bad_shape(
             op, diags,
             fmt::format("the bias is {}, not {}", graph::to_string(op.operand(bias).shape), graph::to_string(wanted)));
}

bool check_block_scales(const OpView& op, size_t scales, Diagnostics& diags, bool negative) {
  for (float scale : op.constant(scales)->to_vector<float>())
    if (!(scale >= 0 || negative) || !std::isfinite(scale)) {
      diags
          .error(op.where(), "op-quantization",
                 fmt::format("a block has scale {}, which is no {} number", scale, negative ? "finite" : "positive"))
          .help("quantise the model again");
      return false;
    }
  return true;
}

namespace {

// Operands.
constexpr size_t kRows = 0, kBlockWeights = 1, kBlockScales = 2, kBlockBias = 3;

class FullyConnectedBlocks final : public SpecifiedOperator {
 public:
  FullyConnectedBlocks()
      : SpecifiedOperator({.name = "fully_connected_blocks",
                           .summary = "matrix product with int4 weights in blocks with a scale each",
                           .operands = {{.name = "x",
                                         .types = {{DType::kF32, "weights int4 in blocks of a row (dynamic range)"}},
                                         .ranks = {1, 8}},
                                        {.name = "weights", .types = {DType::kI4}, .constant = true, .ranks = {2, 2}},
                                        {.name = "scales", .types = {DType::kF32}, .constant = true, .ranks = {2, 2}},
                                        {.name = "bias", .optional = true, .constant = true}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .attributes = make_attributes<FullyConnectedAttrs>}) {}

  int64_t macs(const OpView& op) const override { return op.result().elements() * op.operand(kBlockWeights).shape[1]; }

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override;

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& w = op.operand(kBlockWeights).shape;
    const graph::Shape& scales = op.operand(kBlockScales).shape;
    if (w[0] < 1 || scales[0] != w[0] || scales[1] < 1 || w[1] % scales[1] != 0 || w[1] / scales[1] % 2 != 0) {
      bad_shape(op, diags,
                fmt::format("scales of {} do not divide weights of {} into blocks of an even length",
                            graph::to_string(scales), graph::to_string(w)));
      return kFailure;
    }
    return fully_connected_shape(op, diags);
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    return (!op.has_operand(kBlockBias) || check_type(op, kBlockBias, {DType::kF32}, diags)) &&
           check_unit_bias(op, kBlockBias, diags) && check_block_scales(op, kBlockScales, diags);
  }
};

// Of each unit's weights, in the order and precision of the reference.
std::vector<float> scaled_sums(const OpView& op) {
  const graph::Shape& shape = op.operand(kBlockScales).shape;
  auto w = op.constant(kBlockWeights)->to_vector<int8_t>();
  auto scales = op.constant(kBlockScales)->to_vector<float>();
  const size_t blocks = static_cast<size_t>(shape[1]), block = w.size() / scales.size();
  std::vector<float> sums(static_cast<size_t>(shape[0]), 0.0f);
  for (size_t i = 0; i < scales.size(); ++i) {
    int32_t sum = 0;
    for (size_t k = 0; k < block; ++k) sum += w[i * block + k];
    sums[i / blocks] += static_cast<float>(sum) * scales[i];
  }
  return sums;
}

Lowered FullyConnectedBlocks::lower(const OpView& op, const TargetInfo&) const {
  const graph::Shape& shape = op.operand(kBlockWeights).shape;
  const int64_t units = shape[0], depth = shape[1], blocks = op.operand(kBlockScales).shape[1];
  const int64_t block = depth / blocks, rows = op.operand(kRows).elements() / depth;
  const auto& attrs = op.attrs<FullyConnectedAttrs>();
  LoweringBuilder f(op, "fully_connected_blocks");
  BufferPtr in = f.operand(kRows);
  BufferPtr weights =
      f.constant("weights", DType::kI8, pack_nibbles(op.constant(kBlockWeights)->to_vector<int8_t>(), units, depth, 1));
  BufferPtr scales = f.operand(kBlockScales);
  std::vector<float> biases(static_cast<size_t>(units), 0.0f);
  if (op.has_operand(kBlockBias)) biases = op.constant(kBlockBias)->to_vector<float>();
  BufferPtr bias = f.constant("bias", DType::kF32, biases), out = f.result();
  BufferPtr sums = f.constant("sums", DType::kF32, scaled_sums(op));
  BufferPtr quantised = f.scratch("quantised", DType::kI8, depth, 4);
  publish_batches(f, op, rows);
  f.loop("r", 0, rows, [&](const Ex& r) {
    RowRequest request{in, f.let("row", r * depth), depth, true, false, nullptr};
    RowQuantization q = emit_quantize_row(f, request, quantised, 0);
    Ex to = f.let("to", r * units), zero = f.let("zero", cast(DType::kF32, q.zero));
    f.loop("u", 0, units, [&](const Ex& u) {
      Ex total = f.var("total", tir::f32(0.0f)), first = f.let("first", u * blocks);
      f.loop("b", 0, blocks, [&](const Ex& b) {
        Ex sum = f.var("sum", 0), at = f.let("at", b * block), w = f.let("w", (first + b) * (block / 2));
        f.loop("k", 0, block / 2, [&](const Ex& k) {
          Ex both = f.let("both", load(weights, w + k)), x = f.let("x", at + k * 2);
          f.assign(sum,
                   sum + (shl_wrapping(both, 28) >> 28) * load(quantised, x) + (both >> 4) * load(quantised, x + 1));
        });
        f.assign(total, total + cast(DType::kF32, sum) * load(scales, first + b));
      });
      Ex centred = f.let("centred", total - load(sums, u) * zero);
      Ex v = f.let("v", centred * q.scale + load(bias, u));
      f.store(out, to + u, emit_clamp(v, float_clamp(attrs.activation)));
    });
  });
  f.algorithm("blocks");
  return f.finish(fmt::format("rows quantised, weights of 4 bits in blocks of {}", block));
}

}  // namespace

void add_fully_connected_blocks(OperatorSet& set) { set.add(std::make_unique<FullyConnectedBlocks>()); }

}  // namespace aotc::ops
