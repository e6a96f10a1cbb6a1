// SPDX-License-Identifier: Apache-2.0
// Lowering of unidirectional_sequence_lstm of int8: cell by cell, so that nothing but the states is kept.
#include <functional>

#include "ops/common/dsp_gemm.h"
#include "ops/common/gemm.h"
#include "ops/recurrent/fixed_point.h"
#include "ops/recurrent/lstm.h"

namespace aotc::ops {

using namespace lstm;
using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kUnroll = 4;  // inputs a turn of the loop over them

class LstmLowering {
 public:
  LstmLowering(const OpView& op, const TargetInfo& target) : op_(op), f_(op, "lstm"), shape_(lstm_sizes(op)), target_(target) {}

  Lowered run() {
    in_ = f_.operand(kInput);
    scaling_.emplace(op_);
    pack();
    BufferPtr output_state = f_.operand(kOutputState), cell_state = f_.operand(kCellState);
    out_ = f_.result(kOutput);
    next_output_ = f_.result(kNextOutput);
    next_cell_ = f_.result(kNextCell);
    sums_->begin(f_);
    hidden_->begin(f_);
    f_.copy(next_output_, 0, output_state, 0, shape_.rows.batches * shape_.cells);
    f_.copy(next_cell_, 0, cell_state, 0, shape_.rows.batches * shape_.cells);
    f_.loop("t", 0, shape_.rows.times, [&](const Ex& t) {
      f_.loop("b", 0, shape_.rows.batches, [&](const Ex& b) { step(t, b); });
    });
    return f_.finish(block_ > 0 ? "pairs" : "integer");
  }

 private:
  // Weights [cell][input][gate], so that an input is read once for all gates, and recurrent ones alike;
  // biases [cell][inputs or output state][gate].
  void pack() {
    const size_t count = scaling_->gates.size();
    std::vector<int8_t> weights(at(shape_.cells * shape_.inputs) * count);
    std::vector<int8_t> recurrent(at(shape_.cells * shape_.cells) * count);
    std::vector<int32_t> bias(at(shape_.cells) * 2 * count);
    auto spread = [&](std::vector<int8_t>& to, size_t operand, size_t g) {
      auto values = op_.constant(operand)->to_vector<int8_t>();
      for (size_t i = 0; i < values.size(); ++i) to[i * count + g] = values[i];
    };
    for (size_t g = 0; g < count; ++g) {
      spread(weights, kWeights + scaling_->gates[g], g);
      spread(recurrent, kRecurrent + scaling_->gates[g], g);
      for (size_t c = 0; c < at(shape_.cells); ++c)
        for (size_t which : {0u, 1u}) bias[(c * 2 + which) * count + g] = scaling_->bias[2 * g + which][c];
    }
    if (fits_pairs(weights, recurrent)) {
      begin_pairs(weights, recurrent);
    } else {
      weights_ = f_.constant("weights", DType::kI8, weights);
      recurrent_ = f_.constant("recurrent_weights", DType::kI8, recurrent);
      sums_of_ = f_.local("sums", DType::kI32, static_cast<int64_t>(count));
    }
    bias_ = f_.constant("bias", DType::kI32, bias);
    sums_.emplace(f_, scaling_->sums);
    hidden_.emplace(f_, scaling_->hidden);
    gates_ = f_.local("gates", DType::kI16, static_cast<int64_t>(count));
  }

  // ---- pairs (ops/common/dsp_gemm.h): scratch is the panels of the input and of the output state, then the
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
    if (!target_.dsp || shape_.coupled || shape_.cells % 4 != 0 || shape_.inputs % 4 != 0) return false;
    auto fits = [](const std::vector<int8_t>& spread, int64_t depth) {
      std::vector<int8_t> rows = rows_of(spread, depth);
      const auto count = static_cast<int64_t>(rows.size()) / depth;
      return depth * 128 * 128 < 1 << 23 &&  // the kernel's sums have 24 bits
             pairs_fit(rows, tile_starts(count, PairGemm::kGemvChannels), PairGemm::kGemvChannels, depth);
    };
    return fits(weights, shape_.inputs) && fits(recurrent, shape_.cells);
  }

  void begin_pairs(const std::vector<int8_t>& weights, const std::vector<int8_t>& recurrent) {
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

  void pair_cells(const Ex& x, const Ex& h, const Ex& to) {
    const int64_t sums = block_ * static_cast<int64_t>(kGates);
    f_.run(pack_run_kernel(1), {address(in_, x), address(scratch_, 0), Ex(shape_.inputs / 4)});
    f_.run(pack_run_kernel(1), {address(next_output_, h), address(scratch_, state_panel_), Ex(shape_.cells / 4)});
    f_.loop("block", 0, shape_.cells / block_, [&](const Ex& block) {
      f_.run(gemv_sums_kernel(), {address(weights_, block * (sums / 2 * (shape_.inputs / 2))),
                                  address(scratch_, 0), address(scratch_, sums_at_), address(input_shape_, 0)});
      f_.run(gemv_sums_kernel(), {address(recurrent_, block * (sums / 2 * (shape_.cells / 2))),
                                  address(scratch_, state_panel_), address(scratch_, sums_at_ + sums),
                                  address(state_shape_, 0)});
      f_.loop("i", 0, block_, [&](const Ex& i) {
        Ex c = f_.let("c", block * block_ + i);
        Ex at_sums = f_.let("of_cell", i * static_cast<int64_t>(kGates) + sums_at_);
        Ex bias = f_.let("bias_of_cell", c * (2 * static_cast<int64_t>(kGates)));
        f_.loop("g", 0, static_cast<int64_t>(kGates), [&](const Ex& g) {
          Ex first = f_.let("sum", load(scratch_, at_sums + g) + load(bias_, bias + g));
          Ex gate = f_.let("gate", clamp16(sums_->emit(f_, first, f_.let("channel", g * 2))));
          Ex second = f_.let("sum", load(scratch_, at_sums + sums + g) +
                                        load(bias_, bias + static_cast<int64_t>(kGates) + g));
          f_.store(gates_, g, clamp16(gate + sums_->emit(f_, second, f_.let("channel", g * 2 + 1))));
        });
        f_.store(out_, to + c, cell_of_gates(h, c));
      });
    });
  }

  void step(const Ex& t, const Ex& b) {
    Ex row = f_.let("row", shape_.rows.row(b, t));
    Ex x = f_.let("x", row * shape_.inputs);
    Ex h = f_.let("h", b * shape_.cells);
    Ex to = f_.let("to", row * shape_.cells);
    if (block_ > 0) {
      pair_cells(x, h, to);
    } else {
      f_.loop("c", 0, shape_.cells, [&](const Ex& c) {
        integer_gates(x, h, c);
        f_.store(out_, to + c, cell_of_gates(h, c));
      });
    }
    f_.copy(next_output_, h, out_, to, shape_.cells);
  }

  static Ex clamp16(const Ex& v) { return clamp(v, Ex(-32768), Ex(32767)); }

  // The sums of all gates, left in sums_of_.
  void dots(const Ex& bias, const BufferPtr& weights, const Ex& row, const BufferPtr& values, const Ex& first,
            int64_t depth) {
    const auto count = static_cast<int64_t>(scaling_->gates.size());
    std::vector<Ex> sums;
    for (int64_t g = 0; g < count; ++g) sums.push_back(f_.var("sum", load(bias_, bias + g)));
    auto step = [&](const Ex& k) {
      Ex value = f_.let("v", load(values, first + k));
      Ex of_gates = f_.let("w", row + k * count);
      for (int64_t g = 0; g < count; ++g)
        f_.assign(sums[at(g)], sums[at(g)] + load(weights, of_gates + g) * value);
    };
    const int64_t whole = depth / kUnroll * kUnroll;
    f_.loop("k", 0, whole, [&](const Ex& k) {
      for (int64_t u = 0; u < kUnroll; ++u) step(k + u);
    }, kUnroll);
    for (int64_t k = whole; k < depth; ++k) step(k);
    for (int64_t g = 0; g < count; ++g) f_.store(sums_of_, g, sums[at(g)]);
  }

  void integer_gates(const Ex& x, const Ex& h, const Ex& c) {
    const auto count = static_cast<int64_t>(scaling_->gates.size());
    Ex bias = f_.let("of_cell", c * (2 * count));
    dots(bias, weights_, f_.let("row_w", c * (shape_.inputs * count)), in_, x, shape_.inputs);
    f_.loop("g", 0, count, [&](const Ex& g) {
      Ex sum = f_.let("sum", load(sums_of_, g));
      f_.store(gates_, g, clamp16(sums_->emit(f_, sum, f_.let("channel", g * 2))));
    });
    dots(bias + count, recurrent_, f_.let("row_r", c * (shape_.cells * count)), next_output_, h, shape_.cells);
    f_.loop("g", 0, count, [&](const Ex& g) {
      Ex sum = f_.let("sum", load(sums_of_, g));
      Ex more = sums_->emit(f_, sum, f_.let("channel", g * 2 + 1));
      f_.store(gates_, g, clamp16(load(gates_, g) + more));
    });
  }

  // The output, from what the gates hold; the cell state is changed.
  Ex cell_of_gates(const Ex& h, const Ex& c) {
    const auto count = static_cast<int64_t>(scaling_->gates.size());
    auto let = [&](const char* name, const Ex& v) { return f_.let(name, v); };
    f_.loop("g", 0, count - 1, [&](const Ex& g) {
      f_.store(gates_, g, fixed_point::sigmoid(load(gates_, g), 3, let));
    });
    const int64_t forget_at = shape_.coupled ? 0 : 1;
    Ex forget = f_.let("forget", load(gates_, forget_at));
    Ex input = shape_.coupled ? Ex(fixed_point::kOne) - forget : load(gates_, 0);
    Ex fresh = fixed_point::tanh(f_.let("fresh", load(gates_, count - 1)), 3, let);
    Ex kept = f_.let("kept", fixed_point::rounding_shift(f_.let("old", forget * load(next_cell_, h + c)), 15));
    Ex added = f_.let("added", fixed_point::rounding_shift(f_.let("new", input * fresh),
                                                           30 + scaling_->cell_exponent));
    Ex cell = f_.let("cell", clamp16(kept + added));
    if (scaling_->cell_clip > 0)
      cell = f_.let("cell", clamp(cell, Ex(-scaling_->cell_clip), Ex(scaling_->cell_clip)));
    f_.store(next_cell_, h + c, cell);
    Ex shown = fixed_point::tanh(cell, 15 + scaling_->cell_exponent, let);
    return hidden_->emit(f_, f_.let("product", load(gates_, forget_at + 1) * shown), Ex(0));
  }

  const OpView& op_;
  LoweringBuilder f_;
  LstmSizes shape_;
  std::optional<LstmScaling> scaling_;
  std::optional<Requantizer> sums_, hidden_;
  const TargetInfo& target_;
  int64_t block_ = 0, state_panel_ = 0, sums_at_ = 0;  // of pairs
  BufferPtr scratch_, input_shape_, state_shape_;
  BufferPtr in_, out_, next_output_, next_cell_, weights_, recurrent_, bias_, gates_, sums_of_;
};

}  // namespace

Lowered lower_lstm(const OpView& op, const TargetInfo& target) { return LstmLowering(op, target).run(); }

}  // namespace aotc::ops
