// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/lower_int8.h"

#include "ops/common/gemm.h"
#include "ops/recurrent/fixed_point.h"

namespace aotc::ops {

using namespace lstm;
using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kUnroll = 4;  // inputs a turn of the loop over them

}  // namespace

LstmLowering::LstmLowering(const OpView& op) : op_(op), f_(op, "lstm"), shape_(lstm_sizes(op)) {}

Lowered LstmLowering::run() {
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
  f_.loop("t", 0, shape_.rows.times,
          [&](const Ex& t) { f_.loop("b", 0, shape_.rows.batches, [&](const Ex& b) { step(t, b); }); });
  return f_.finish("integer");
}

// Weights [cell][input][gate], so that an input is read once for all gates, and recurrent ones alike;
// biases [cell][inputs or output state][gate].
void LstmLowering::pack() {
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
  begin_products(weights, recurrent);
  bias_ = f_.constant("bias", DType::kI32, bias);
  sums_.emplace(f_, scaling_->sums);
  hidden_.emplace(f_, scaling_->hidden);
  gates_ = f_.local("gates", DType::kI16, static_cast<int64_t>(count));
}

void LstmLowering::begin_products(const std::vector<int8_t>& weights, const std::vector<int8_t>& recurrent) {
  weights_ = f_.constant("weights", DType::kI8, weights);
  recurrent_ = f_.constant("recurrent_weights", DType::kI8, recurrent);
  sums_of_ = f_.local("sums", DType::kI32, static_cast<int64_t>(scaling_->gates.size()));
}

void LstmLowering::step(const Ex& t, const Ex& b) {
  Ex row = f_.let("row", shape_.rows.row(b, t));
  Ex x = f_.let("x", row * shape_.inputs);
  Ex h = f_.let("h", b * shape_.cells);
  Ex to = f_.let("to", row * shape_.cells);
  cells(x, h, to);
  f_.copy(next_output_, h, out_, to, shape_.cells);
}

void LstmLowering::cells(const Ex& x, const Ex& h, const Ex& to) {
  f_.loop("c", 0, shape_.cells, [&](const Ex& c) {
    integer_gates(x, h, c);
    f_.store(out_, to + c, cell_of_gates(h, c));
  });
}

// The sums of all gates, left in sums_of_.
void LstmLowering::dots(const Ex& bias, const BufferPtr& weights, const Ex& row, const BufferPtr& values,
                        const Ex& first, int64_t depth) {
  const auto count = static_cast<int64_t>(scaling_->gates.size());
  std::vector<Ex> sums;
  for (int64_t g = 0; g < count; ++g) sums.push_back(f_.var("sum", load(bias_, bias + g)));
  auto step = [&](const Ex& k) {
    Ex value = f_.let("v", load(values, first + k));
    Ex of_gates = f_.let("w", row + k * count);
    for (int64_t g = 0; g < count; ++g) f_.assign(sums[at(g)], sums[at(g)] + load(weights, of_gates + g) * value);
  };
  const int64_t whole = depth / kUnroll * kUnroll;
  f_.loop(
      "k", 0, whole,
      [&](const Ex& k) {
        for (int64_t u = 0; u < kUnroll; ++u) step(k + u);
      },
      kUnroll);
  for (int64_t k = whole; k < depth; ++k) step(k);
  for (int64_t g = 0; g < count; ++g) f_.store(sums_of_, g, sums[at(g)]);
}

void LstmLowering::integer_gates(const Ex& x, const Ex& h, const Ex& c) {
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
Ex LstmLowering::cell_of_gates(const Ex& h, const Ex& c) {
  const auto count = static_cast<int64_t>(scaling_->gates.size());
  auto let = [&](const char* name, const Ex& v) { return f_.let(name, v); };
  f_.loop("g", 0, count - 1, [&](const Ex& g) { f_.store(gates_, g, fixed_point::sigmoid(load(gates_, g), 3, let)); });
  const int64_t forget_at = shape_.coupled ? 0 : 1;
  Ex forget = f_.let("forget", load(gates_, forget_at));
  Ex input = shape_.coupled ? Ex(fixed_point::kOne) - forget : load(gates_, 0);
  Ex fresh = fixed_point::tanh(f_.let("fresh", load(gates_, count - 1)), 3, let);
  Ex kept = f_.let("kept", fixed_point::rounding_shift(f_.let("old", forget * load(next_cell_, h + c)), 15));
  Ex added = f_.let("added", fixed_point::rounding_shift(f_.let("new", input * fresh), 30 + scaling_->cell_exponent));
  Ex cell = f_.let("cell", clamp16(kept + added));
  if (scaling_->cell_clip > 0) cell = f_.let("cell", clamp(cell, Ex(-scaling_->cell_clip), Ex(scaling_->cell_clip)));
  f_.store(next_cell_, h + c, cell);
  Ex shown = fixed_point::tanh(cell, 15 + scaling_->cell_exponent, let);
  return hidden_->emit(f_, f_.let("product", load(gates_, forget_at + 1) * shown), Ex(0));
}

Lowered lower_lstm(const OpView& op) { return LstmLowering(op).run(); }

}  // namespace aotc::ops
