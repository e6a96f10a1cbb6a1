// SPDX-License-Identifier: Apache-2.0
// unidirectional_sequence_lstm of int8 onto the pair kernels (gemm.h): the sums of a block of cells at a time.
#include "cores/arm/dsp/gemm.h"
#include "cores/arm/dsp/lowerings.h"
#include "ops/common/gemm.h"
#include "ops/recurrent/int8_extras.h"
#include "ops/recurrent/lower_int8.h"

namespace aotc::cores::arm {

using lstm::kGates;
using tir::BufferPtr;
using tir::Ex;

namespace {

class LstmPairsLowering final : public LstmLowering {
 public:
  using LstmLowering::LstmLowering;

 private:
  // Scratch is the panels of the input and of the output state, then the
  // sums of a block of cells, [inputs or output state][cell][gate]. A group of the kernel is two cells.

  // Rows of weights as the kernel takes them, [cell][gate][k].
  static std::vector<int8_t> rows_of(const std::vector<int8_t>& spread, int64_t depth) {
    std::vector<int8_t> rows(spread.size());
    for (size_t i = 0; i < spread.size(); ++i) {
      size_t gate = i % kGates, k = i / kGates % at(depth), cell = i / kGates / at(depth);
      rows[(cell * kGates + gate) * at(depth) + k] = spread[i];
    }
    return rows;
  }

  bool fits_pairs(const std::vector<int8_t>& weights, const std::vector<int8_t>& recurrent) const {
    if (shape_.coupled || shape_.cells % 4 != 0 || shape_.inputs % 4 != 0) return false;
    auto fits = [](const std::vector<int8_t>& spread, int64_t depth) {
      std::vector<int8_t> rows = rows_of(spread, depth);
      const auto count = static_cast<int64_t>(rows.size()) / depth;
      return depth * 128 * 128 < 1 << 23 &&  // the kernel's sums have 24 bits
             pairs_fit(rows, tile_starts(count, PairGemm::kGemvChannels), PairGemm::kGemvChannels, depth);
    };
    return fits(weights, shape_.inputs) && fits(recurrent, shape_.cells);
  }

  void begin_products(const std::vector<int8_t>& weights, const std::vector<int8_t>& recurrent) override {
    if (!fits_pairs(weights, recurrent)) return LstmLowering::begin_products(weights, recurrent);
    block_ = shape_.cells % 8 == 0 ? 8 : 4;
    const int64_t groups = block_ * static_cast<int64_t>(kGates) / PairGemm::kGemvChannels;
    auto stream = [&](const char* name, const std::vector<int8_t>& spread, int64_t depth) {
      const int64_t rows = shape_.cells * static_cast<int64_t>(kGates);
      return f_.constant(name, DType::kI32,
                         gemv_sums_stream(rows_of(spread, depth), depth, row_order(0, depth),
                                          tile_starts(rows, PairGemm::kGemvChannels)));
    };
    weights_ = stream("weights", weights, shape_.inputs);
    recurrent_ = stream("recurrent_weights", recurrent, shape_.cells);
    input_shape_ = f_.constant("input_shape", DType::kI32, gemv_sums_shape(shape_.inputs / 2, groups));
    state_shape_ = f_.constant("state_shape", DType::kI32, gemv_sums_shape(shape_.cells / 2, groups));
    state_panel_ = shape_.inputs / 2;
    sums_at_ = state_panel_ + shape_.cells / 2;
    scratch_ = f_.scratch("panel", DType::kI32, sums_at_ + 2 * block_ * static_cast<int64_t>(kGates), 4);
  }

  void cells(const Ex& x, const Ex& h, const Ex& to) override {
    if (block_ == 0) return LstmLowering::cells(x, h, to);
    const int64_t sums = block_ * static_cast<int64_t>(kGates);
    f_.run(pack_run_kernel(1), {address(in_, x), address(scratch_, 0), Ex(shape_.inputs / 4)});
    f_.run(pack_run_kernel(1), {address(next_output_, h), address(scratch_, state_panel_), Ex(shape_.cells / 4)});
    f_.loop("block", 0, shape_.cells / block_, [&](const Ex& block) {
      f_.run(gemv_sums_kernel(), {address(weights_, block * (sums / 2 * (shape_.inputs / 2))), address(scratch_, 0),
                                  address(scratch_, sums_at_), address(input_shape_, 0)});
      f_.run(gemv_sums_kernel(),
             {address(recurrent_, block * (sums / 2 * (shape_.cells / 2))), address(scratch_, state_panel_),
              address(scratch_, sums_at_ + sums), address(state_shape_, 0)});
      f_.loop("i", 0, block_, [&](const Ex& i) {
        Ex c = f_.let("c", block * block_ + i);
        Ex at_sums = f_.let("of_cell", i * static_cast<int64_t>(kGates) + sums_at_);
        Ex bias = f_.let("bias_of_cell", c * (2 * static_cast<int64_t>(kGates)));
        f_.loop("g", 0, static_cast<int64_t>(kGates), [&](const Ex& g) {
          Ex first = f_.let("sum", load(scratch_, at_sums + g) + load(bias_, bias + g));
          Ex gate = f_.let("gate", clamp16(sums_->emit(f_, first, f_.let("channel", g * 2))));
          Ex second =
              f_.let("sum", load(scratch_, at_sums + sums + g) + load(bias_, bias + static_cast<int64_t>(kGates) + g));
          f_.store(gates_, g, clamp16(gate + sums_->emit(f_, second, f_.let("channel", g * 2 + 1))));
        });
        f_.store(out_, to + c, cell_of_gates(h, c));
      });
    });
  }

  std::string_view note() const override { return block_ > 0 ? "pairs" : LstmLowering::note(); }

  int64_t block_ = 0, state_panel_ = 0, sums_at_ = 0;  // 0: the kernel does not fit
  BufferPtr scratch_, weights_, recurrent_, input_shape_, state_shape_;
};

}  // namespace

std::optional<Lowered> lower_lstm_dsp(const OpView& op, const TargetInfo& target) {
  if (has_int8_extras(lstm_sizes(op))) return std::nullopt;
  return LstmPairsLowering(op, target).run();
}

}  // namespace aotc::cores::arm
