// SPDX-License-Identifier: Apache-2.0
// fully_connected_computed: fully_connected with weights that the model computes. Tiles of two rows by two units
// share their loads; what is left over is done one by one.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/computed_weights.h"
#include "ops/common/gemm.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/fully_connected/fully_connected.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::Ex;

namespace {

ComputedWeights computed_product(const OpView& op) {
  const graph::Shape& w = op.operand(1).shape;
  return {.channels = w[0],
          .terms = w[1],
          .activation = op.attrs<FullyConnectedAttrs>().activation,
          .rounding = Rounding::kSingle,
          .wide_rounding = WideRounding::kReal,
          .float_products = false,
          .weights_zero_point = true,
          .bias_zero_point = true};
}

class ComputedFullyConnected final : public SpecifiedOperator {
 public:
  ComputedFullyConnected()
      : SpecifiedOperator(
            {.name = "fully_connected_computed",
             .summary = "matrix product with weights that the model computes",
             .operands = {{.name = "x",
                           .types = {{DType::kI8, "weights int8 or uint8"}, {DType::kI16, "weights int8"}, DType::kF32},
                           .ranks = {1, 8}},
                          {.name = "weights", .ranks = {2, 2}},
                          {.name = "bias", .optional = true}},
             .results = {{.name = "y"}},
             .shapes = Shapes::kOwn,
             .attributes = make_attributes<FullyConnectedAttrs>}) {}

  int64_t macs(const OpView& op) const override { return op.result().elements() * op.operand(1).shape[1]; }

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo& target) const override {
    const int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
    const int64_t rows = op.operand(0).elements() / depth;
    LoweringBuilder f(op, "fully_connected");
    ComputedSums sums(op, f, computed_product(op));
    sums.begin();
    constexpr int64_t kMostBlock = 4;
    const int64_t block_rows = target.wish("rows", std::min<int64_t>(2, rows), 1, std::min(kMostBlock, rows));
    const int64_t block_units = target.wish("units", std::min<int64_t>(2, units), 1, std::min(kMostBlock, units));
    auto first = [&](const Ex& at, int64_t total, int64_t block) {
      return total % block == 0 ? at : min(at, Ex(total - block));
    };
    f.loop(
        "r", 0, rows,
        [&](Ex r) {
          Ex row = f.let("row", first(r, rows, block_rows));
          f.loop(
              "u", 0, units,
              [&](Ex u) {
                Ex unit = f.let("unit", first(u, units, block_units));
                emit_tile(f, sums, {row, unit, block_rows, block_units, units, depth});
              },
              block_units);
        },
        block_rows);
    f.algorithm("tiles");
    f.choice("rows", block_rows);
    f.choice("units", block_units);
    return f.finish(sums.form() + ", computed weights");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    return fully_connected_shape(op, diags);
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    return verify_computed_weights(op, computed_product(op), diags);
  }

 private:
  struct Tile {
    Ex row, unit;
    int64_t rows, columns, units, depth;
  };

  static void emit_tile(LoweringBuilder& f, const ComputedSums& sums, const Tile& tile) {
    std::vector<Ex> from, weights, acc;
    for (int64_t p = 0; p < tile.rows; ++p) from.push_back(f.let("x", (tile.row + p) * tile.depth));
    for (int64_t c = 0; c < tile.columns; ++c) weights.push_back(f.let("w", (tile.unit + c) * tile.depth));
    for (int64_t p = 0; p < tile.rows; ++p)
      for (int64_t c = 0; c < tile.columns; ++c) acc.push_back(f.var("acc", sums.start(tile.unit + c)));
    f.loop("k", 0, tile.depth, [&](Ex k) {
      std::vector<Ex> x, w;
      for (const Ex& at : from) x.push_back(f.let("a", sums.input(at + k)));
      for (const Ex& at : weights) w.push_back(f.let("b", sums.weight(at + k)));
      for (size_t i = 0; i < acc.size(); ++i)
        f.assign(acc[i], acc[i] + product_for(acc[i], x[i / w.size()], w[i % w.size()]));
    });
    for (int64_t p = 0; p < tile.rows; ++p)
      for (int64_t c = 0; c < tile.columns; ++c)
        f.store(sums.result(), (tile.row + p) * tile.units + tile.unit + c,
                sums.finish(acc[static_cast<size_t>(p * tile.columns + c)], tile.unit + c));
  }
};

}  // namespace

void add_fully_connected_computed(OperatorSet& set) { set.add(std::make_unique<ComputedFullyConnected>()); }

}  // namespace aotc::ops
