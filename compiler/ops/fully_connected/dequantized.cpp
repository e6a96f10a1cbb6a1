// SPDX-License-Identifier: Apache-2.0
// fully_connected_dequantized: float rows times integer weights, each of which becomes a float when it is multiplied.
// With w less its zero point, y = sum over blocks of f32(sum of x * f32(w) in the block) * scale, then bias and clamp.
// Sums run in the order of the row, and every operation is rounded to float32. Weights never exist as floats.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/gemm.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/common/nibbles.h"
#include "ops/fully_connected/fully_connected.h"
#include "ops/interfaces.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace dequantized {

namespace {

// Operands.
constexpr size_t kRows = 0, kWeights = 1, kScales = 2, kZeros = 3, kBias = 4;

class FullyConnectedDequantized final : public SpecifiedOperator, public Fusable, public Transposable {
 public:
  FullyConnectedDequantized()
      : SpecifiedOperator(
            {.name = "fully_connected_dequantized",
             .summary = "matrix product of floats with integer weights, which become floats one by one",
             .operands = {{.name = "x",
                           .types = {{DType::kF32, "weights int8 or int4, a scale for each row or block of a row"}},
                           .ranks = {1, 8}},
                          {.name = "weights", .types = {DType::kI8, DType::kI4}, .constant = true, .ranks = {2, 2}},
                          {.name = "scales", .types = {DType::kF32}, .constant = true, .ranks = {2, 2}},
                          {.name = "zero_points", .types = {DType::kI8}, .constant = true, .ranks = {2, 2}},
                          {.name = "bias", .types = {DType::kF32}, .optional = true, .constant = true}},
             .results = {{.name = "y"}},
             .shapes = Shapes::kOwn,
             .attributes = make_attributes<FullyConnectedAttrs>}) {}

  int64_t macs(const OpView& op) const override { return op.result().elements() * op.operand(kWeights).shape[1]; }
  bool takes_addition(const OpView& op) const override { return !op.has_operand(kBias); }
  std::optional<AxisFlow> axis_flow(const OpView& op) const override { return fully_connected_axes(op); }
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    return fully_connected_attributes(op, axes);
  }

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo& target) const override;

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape &w = op.operand(kWeights).shape, &scales = op.operand(kScales).shape;
    if (w[0] < 1 || scales[0] != w[0] || scales[1] < 1 || w[1] % scales[1] != 0 || op.operand(kZeros).shape != scales) {
      bad_shape(op, diags,
                fmt::format("scales of {} and zero points do not divide weights of {} into equal blocks",
                            graph::to_string(scales), graph::to_string(w)));
      return kFailure;
    }
    return fully_connected_shape(op, diags);
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    return check_unit_bias(op, kBias, diags) && check_block_scales(op, kScales, diags, true);
  }
};

class DequantizedLowering {
 public:
  DequantizedLowering(const OpView& op, const TargetInfo& target)
      : op_(op),
        f_(op, "fully_connected_dequantized"),
        units_(op.operand(kWeights).shape[0]),
        depth_(op.operand(kWeights).shape[1]),
        blocks_(op.operand(kScales).shape[1]),
        rows_(op.operand(kRows).elements() / depth_),
        activation_(op.attrs<FullyConnectedAttrs>().activation) {
    // A block of an odd length would begin within a byte.
    nibbles_ = packs_nibbles(op, target) && (blocks_ == 1 || block() % 2 == 0);
    // Of one row, an element is loaded once for all units of a tile.
    constexpr int64_t kMostBlock = 8, kMostUnroll = 64;
    block_rows_ = target.wish("rows", std::min<int64_t>(target.gemm_pixels, rows_), 1, std::min(kMostBlock, rows_));
    block_units_ = target.wish("units", std::min<int64_t>(block_rows_ == 1 ? kMostBlock : target.gemm_channels, units_),
                               1, std::min(kMostBlock, units_));
    unroll_ = unroll_for(block(), target.wish("unroll", 4, 1, kMostUnroll));
  }

  Lowered run() {
    in_ = f_.operand(kRows);
    const auto values = op_.constant(kWeights)->to_vector<int8_t>();
    weights_ = f_.constant("weights", DType::kI8,
                           nibbles_ ? pack_nibbles(values, units_, depth_, block_units_)
                                    : pack_weights(values, units_, depth_, block_units_));
    scales_ = f_.constant("scales", DType::kF32,
                          pack_weights(op_.constant(kScales)->to_vector<float>(), units_, blocks_, block_units_));
    const auto zeros = op_.constant(kZeros)->to_vector<int8_t>();
    if (std::any_of(zeros.begin(), zeros.end(), [](int8_t z) { return z != 0; }))
      zeros_ = f_.constant("zero_points", DType::kI8, pack_weights(zeros, units_, blocks_, block_units_));
    std::vector<float> bias(static_cast<size_t>(units_), 0.0f);
    if (op_.has_operand(kBias)) bias = op_.constant(kBias)->to_vector<float>();
    bias_ = f_.constant("bias", DType::kF32, bias);
    out_ = f_.result();
    f_.loop(
        "r", 0, rows_,
        [&](const Ex& r) {
          Ex row = rows_ % block_rows_ == 0 ? r : f_.let("row", min(r, Ex(rows_ - block_rows_)));
          f_.loop("u", 0, units_, [&](const Ex& u) { emit_tile(row, u); }, block_units_);
        },
        block_rows_);
    f_.algorithm("tiles");
    f_.choice("rows", block_rows_);
    f_.choice("units", block_units_);
    f_.choice("unroll", unroll_);
    return f_.finish(fmt::format("weights of {} bits become floats{}", nibbles_ ? 4 : 8,
                                 blocks_ > 1 ? fmt::format(", blocks of {}", block()) : ""));
  }

 private:
  int64_t block() const { return depth_ / blocks_; }

  void emit_tile(const Ex& row, const Ex& u) {
    Ex unit = units_ % block_units_ == 0 ? u : f_.let("unit", min(u, Ex(units_ - block_units_)));
    // u is a multiple of the tile's units, and so are the constants of the tiles before it.
    Ex weights = f_.let("wi", u * (nibbles_ ? nibble_bytes(depth_) : depth_)), scales = f_.let("si", u * blocks_);
    std::vector<Ex> sums;
    if (blocks_ == 1) {
      sums = scaled(row, 0, weights, scales);
    } else {
      for (int64_t i = 0; i < block_rows_ * block_units_; ++i) sums.push_back(f_.var("sum", tir::f32(0.0f)));
      f_.loop("b", 0, blocks_, [&](const Ex& b) {
        const int64_t bytes = nibbles_ ? block() / 2 : block();
        const std::vector<Ex> parts =
            scaled(row, f_.let("at", b * block()), f_.let("wb", weights + b * (bytes * block_units_)),
                   f_.let("sb", scales + b * block_units_));
        for (size_t i = 0; i < parts.size(); ++i) f_.assign(sums[i], sums[i] + parts[i]);
      });
    }
    Ex to = f_.let("to", row * units_ + unit);
    for (int64_t c = 0; c < block_units_; ++c)
      for (int64_t p = 0; p < block_rows_; ++p) {
        Ex v = f_.let("v", sums[static_cast<size_t>(p * block_units_ + c)] + load(bias_, unit + c));
        f_.store(out_, to + (p * units_ + c), emit_clamp(v, float_clamp(activation_)));
      }
  }

  // The products of a block, times its scales. `at`: where it begins in a row; `weights`, `scales`: its constants.
  std::vector<Ex> scaled(const Ex& row, const Ex& at, const Ex& weights, const Ex& scales) {
    GemmTile tile;
    tile.k = block();
    tile.pixels = block_rows_;
    tile.channels = block_units_;
    tile.unroll = unroll_;
    tile.x = in_;
    for (int64_t p = 0; p < block_rows_; ++p) tile.x_base.push_back((row + p) * depth_ + at);
    tile.weights = weights_;
    tile.nibbles = nibbles_;
    tile.weights_base = weights;
    if (zeros_)
      for (int64_t c = 0; c < block_units_; ++c) tile.zero_points.push_back(f_.let("zero", load(zeros_, scales + c)));
    std::vector<Ex> sums = emit_gemm_tile(f_, tile, [](int64_t, int64_t) { return tir::f32(0.0f); });
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = sums[i] * load(scales_, scales + static_cast<int64_t>(i) % block_units_);
    return sums;
  }

  const OpView& op_;
  LoweringBuilder f_;
  int64_t units_, depth_, blocks_, rows_;
  int64_t block_rows_ = 1, block_units_ = 1, unroll_ = 1;
  bool nibbles_ = false;
  Activation activation_;
  BufferPtr in_, out_, weights_, scales_, zeros_, bias_;
};

Lowered FullyConnectedDequantized::lower(const OpView& op, const TargetInfo& target) const {
  return DequantizedLowering(op, target).run();
}

}  // namespace

}  // namespace dequantized

void add_fully_connected_dequantized(OperatorSet& set) {
  set.add(std::make_unique<dequantized::FullyConnectedDequantized>());
}

}  // namespace aotc::ops
