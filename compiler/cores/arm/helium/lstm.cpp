// SPDX-License-Identifier: Apache-2.0
// unidirectional_sequence_lstm of int8 onto generated vector kernels.
#include <fmt/format.h>

#include "cores/arm/generated/lstm_lowering.h"
#include "cores/arm/generated/mve_gates.h"
#include "cores/arm/helium/lowerings.h"
#include "ops/recurrent/int8_extras.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kMostRowStep = 4095;  // an immediate moves the rows back

class LstmVectors final : public LstmGatesLowering {
 public:
  LstmVectors(const OpView& op, const TargetInfo& target) : LstmGatesLowering(op, target, "mve") {}

 private:
  static constexpr int64_t kPixels = 2, kChannels = GateProducts::kTile / kPixels;

  // Products of one operand: the tables of all gates, and the shape of the tile.
  struct Side {
    bool recurrent = false;
    GateProducts tile;
    int64_t calls = 1;  // a run
    BufferPtr weights, tables;
  };

  int64_t steps() const override { return shape_.rows.times > 1 ? kPixels : 1; }
  int64_t stride() const override { return (shape_.cells + GateProducts::kTile - 1) & -GateProducts::kTile; }

  void begin_products() override {
    const int64_t all = shape_.rows.batches * shape_.rows.times;
    input_ = {false, {steps(), GateProducts::kTile / steps(), shape_.inputs}, all / steps(), {}, {}};
    state_ = {true, {1, GateProducts::kTile, shape_.cells, true}, all, {}, {}};
    make_tables(input_, "weights", "tables");
    make_tables(state_, "recurrent_weights", "recurrent_tables");
  }

  void make_tables(Side& side, const char* weights, const char* tables) {
    side.tile.unroll = best_unroll(side.tile.cost(), stride() / side.tile.channels, side.calls);
    std::vector<int32_t> words;
    const int64_t apart = (shape_.rows.row(0, 1) - shape_.rows.row(0, 0)) * shape_.inputs;
    for (int64_t g = 0; g < kGates; ++g) {
      const auto of_gate = side.tile.table(bias(g, side.recurrent), scale(g, side.recurrent), apart, kGates * stride());
      words.insert(words.end(), of_gate.begin(), of_gate.end());
    }
    side.weights = f_.constant(weights, DType::kI8, side.tile.pack(this->weights(side.recurrent), kGates * stride()));
    side.tables = f_.constant(tables, DType::kI32, words);
  }

  // The product for every gate.
  void multiply(const Side& side, int64_t pixels, const Ex& x, const BufferPtr& from, const Ex& gates) {
    const auto weights = static_cast<int64_t>(side.weights->elements) / kGates,
               words = static_cast<int64_t>(side.tables->elements) / kGates;
    auto kernel = [&](int64_t g) {
      GateProducts tile = side.tile;
      tile.pixels = pixels;
      const QuantizedMultiplier by = scale(g, side.recurrent);
      tile.left = by.shift > 0;
      tile.right = by.shift < 0;
      return tile.kernel();
    };
    auto call = [&](const tir::KernelPtr& made, const Ex& g) {
      f_.run(made, {address(side.weights, g * weights), address(from, x), address(gates_, gates + g * stride()),
                    address(side.tables, g * words)});
    };
    for_gates(kernel, call);
  }

  void input_gates(const Ex& x, int64_t, int64_t count) override { multiply(input_, count, x, in_, 0); }
  void add_recurrent_gates(const Ex& h, const Ex& gates) override { multiply(state_, 1, h, next_output_, gates); }
  std::string note() const override {
    return fmt::format("{}x{}, {} cells a pass", input_.tile.pixels, input_.tile.channels, GateProducts::kTile);
  }

  Side input_, state_;
};

}  // namespace

std::optional<Lowered> lower_lstm_mve(const OpView& op, const TargetInfo& target) {
  const LstmSizes sizes = lstm_sizes(op);
  if (has_int8_extras(sizes) || sizes.coupled || sizes.inputs > kMostRowStep || sizes.cells > kMostRowStep)
    return std::nullopt;
  return LstmVectors(op, target).run();
}

}  // namespace aotc::cores::arm
