// SPDX-License-Identifier: Apache-2.0
// unidirectional_sequence_lstm of int8 onto generated kernels.
#include <algorithm>

#include <fmt/format.h>

#include "cores/arm/dsp/gemm.h"
#include "cores/arm/dsp/lowerings.h"
#include "cores/arm/generated/dsp_gates.h"
#include "cores/arm/generated/lstm_lowering.h"
#include "ops/common/gemm.h"
#include "ops/recurrent/int8_extras.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

class LstmPairs final : public LstmGatesLowering {
 public:
  LstmPairs(const OpView& op, const TargetInfo& target) : LstmGatesLowering(op, target, "dsp") {}

  // Words of two channels, 32 bits for sums that are shifted left, and offsets of the second and third step.
  bool fits() const {
    for (bool recurrent : {false, true}) {
      const std::vector<int8_t> all = weights(recurrent);
      const auto depth = static_cast<int64_t>(all.size()) / (kGates * stride());
      if (!pairs_fit(all, tile_starts(kGates * stride(), 2), 2, depth)) return false;
      for (int64_t g = 0; g < kGates; ++g) {
        const int64_t most = scaling_.sums.ranges[at(2 * g + (recurrent ? 1 : 0))].magnitude();
        if (most >= DspGateProducts::kMostSum || (most << (scale(g, recurrent).shift + 1)) >= int64_t{1} << 31)
          return false;
      }
    }
    constexpr int kMostRight = 23;  // the zero point, shifted left by it, keeps its sign
    return -quantize_multiplier(scaling_.hidden.scales[0]).shift <= kMostRight;
  }

 private:
  static constexpr int64_t kMostOffset = 4095, kWord = 4;

  // Products of one operand: its streams, gate by gate, and its tables.
  struct Side {
    bool recurrent = false;
    DspGateProducts tile;
    int64_t calls = 1;  // a run
    BufferPtr stream, tables;
  };

  int64_t stride() const override { return (shape_.cells + 7) & -8; }
  int64_t steps() const override {
    const int64_t last = 2 * ((DspGateProducts::kPixels - 1) * kGates * stride() + 1);
    return shape_.rows.times >= DspGateProducts::kPixels && last <= kMostOffset ? DspGateProducts::kPixels : 1;
  }
  int64_t more_scratch() const override { return std::max(input_.tile.panel_halves(), state_.tile.panel_halves()); }
  int64_t panel() const { return steps() * kGates * stride(); }

  void begin_products() override {
    const int64_t all = shape_.rows.batches * shape_.rows.times, wide = steps() > 1 ? 2 : 8;
    input_ = {false, {steps(), wide, shape_.inputs}, all / steps(), {}, {}};
    state_ = {true, {1, 8, shape_.cells, true}, all, {}, {}};
    input_.tile.out_step = kGates * stride();
    make_tables(input_, "weights", "tables");
    make_tables(state_, "recurrent_weights", "recurrent_tables");
  }

  void make_tables(Side& side, const char* stream, const char* tables) {
    side.tile.unroll = best_unroll(side.tile.cost(), stride() / side.tile.channels, side.calls);
    std::vector<int32_t> words, table;
    const std::vector<int8_t> all = weights(side.recurrent);
    const auto of_gate = static_cast<std::ptrdiff_t>(all.size()) / kGates;
    for (int64_t g = 0; g < kGates; ++g) {
      const auto from =
          side.tile.stream({all.begin() + g * of_gate, all.begin() + (g + 1) * of_gate}, bias(g, side.recurrent));
      words.insert(words.end(), from.begin(), from.end());
      const auto its_table = side.tile.table(scale(g, side.recurrent), stride());
      table.insert(table.end(), its_table.begin(), its_table.end());
    }
    side.stream = f_.constant(stream, DType::kI32, words);
    side.tables = f_.constant(tables, DType::kI32, table);
  }

  // One row to its place in the panel; the tail of an odd row is filled up with zeros.
  void pack(const BufferPtr& from, const Ex& x, int64_t depth, int64_t pixels, int64_t pixel) {
    const int64_t first = panel() + 2 * pixel, whole = depth / kWord;
    if (whole > 0) f_.run(dsp_pack_kernel(pixels), {address(from, x), address(gates_, first), Ex(whole)});
    for (int64_t i = 0; i < kWord && depth % kWord != 0; ++i) {
      const Ex value = whole * kWord + i < depth ? load(from, x + whole * kWord + i) : Ex(0);
      f_.store(gates_, first + (whole * 2 + i % 2) * 2 * pixels + i / 2, value);
    }
  }

  // The product for every gate.
  void multiply(const Side& side, int64_t pixels, const Ex& gates) {
    const auto words = static_cast<int64_t>(side.stream->elements) / kGates;
    DspGateProducts tile = side.tile;
    tile.pixels = pixels;
    if (pixels == 1) tile.out_step = 0;
    auto kernel = [&](int64_t g) {
      const QuantizedMultiplier by = scale(g, side.recurrent);
      tile.left = std::max(by.shift, 0);
      tile.right = by.shift < 0;
      return tile.kernel();
    };
    auto call = [&](const tir::KernelPtr& made, const Ex& g) {
      f_.run(made, {address(side.stream, g * words), address(gates_, panel()), address(gates_, gates + g * stride()),
                    address(side.tables, g * DspGateProducts::kWords)});
    };
    for_gates(kernel, call);
  }

  void input_gates(const Ex& x, int64_t row_step, int64_t count) override {
    for (int64_t p = 0; p < count; ++p) pack(in_, x + p * row_step, shape_.inputs, count, p);
    multiply(input_, count, 0);
  }
  void add_recurrent_gates(const Ex& h, const Ex& gates) override {
    pack(next_output_, h, shape_.cells, 1, 0);
    multiply(state_, 1, gates);
  }
  std::string note() const override { return fmt::format("{}x{}", input_.tile.pixels, input_.tile.channels); }

  Side input_, state_;
};

}  // namespace

std::optional<Lowered> lower_lstm_dsp(const OpView& op, const TargetInfo& target) {
  const LstmSizes sizes = lstm_sizes(op);
  if (has_int8_extras(sizes) || sizes.coupled) return std::nullopt;
  LstmPairs lowering(op, target);
  return lowering.fits() ? std::optional(lowering.run()) : std::nullopt;
}

}  // namespace aotc::cores::arm
