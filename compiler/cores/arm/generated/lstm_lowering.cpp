// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/generated/lstm_lowering.h"

#include <utility>

namespace aotc::cores::arm {

namespace lstm = ops::lstm;
using tir::Ex;

LstmGatesLowering::LstmGatesLowering(const OpView& op, const TargetInfo& target, std::string set)
    : op_(op), target_(target), f_(op, "lstm"), shape_(lstm_sizes(op)), scaling_(op), set_(std::move(set)) {}

QuantizedMultiplier LstmGatesLowering::scale(int64_t gate, bool recurrent) const {
  return quantize_multiplier(scaling_.sums.scales[at(2 * gate + (recurrent ? 1 : 0))]);
}

std::vector<int32_t> LstmGatesLowering::bias(int64_t gate, bool recurrent) const {
  std::vector<int32_t> out = scaling_.bias[at(2 * gate + (recurrent ? 1 : 0))];
  out.resize(at(stride()));
  return out;
}

std::vector<int8_t> LstmGatesLowering::weights(bool recurrent) const {
  const size_t first = recurrent ? lstm::kRecurrent : lstm::kWeights;
  const int64_t depth = recurrent ? shape_.cells : shape_.inputs;
  std::vector<int8_t> out;
  for (size_t g = 0; g < at(kGates); ++g) {
    const auto of_gate = op_.constant(first + scaling_.gates[g])->to_vector<int8_t>();
    out.insert(out.end(), of_gate.begin(), of_gate.end());
    out.resize((g + 1) * at(stride() * depth));
  }
  return out;
}

void LstmGatesLowering::for_gates(const std::function<tir::KernelPtr(int64_t gate)>& kernel,
                                  const std::function<void(const tir::KernelPtr& kernel, const Ex& gate)>& call) {
  bool same = true;
  for (int64_t g = 1; g < kGates; ++g) same = same && name_of(*kernel(g)) == name_of(*kernel(0));
  if (same) {
    const tir::KernelPtr made = kernel(0);
    f_.loop("g", 0, kGates, [&](const Ex& g) { call(made, g); });
  } else {
    for (int64_t g = 0; g < kGates; ++g) call(kernel(g), g);
  }
}

int64_t LstmGatesLowering::best_unroll(const kernelgen::SegmentCost& cost, int64_t groups, int64_t calls) const {
  constexpr double kInstructionBytes = 4;
  const double per_byte = target_.level == Level::kSpeed ? 0 : target_.instructions_per_byte;
  return cost.best_unroll(groups, kGates * calls, kInstructionBytes * per_byte);
}

Lowered LstmGatesLowering::run() {
  const int64_t cells = shape_.cells, batches = shape_.rows.batches, times = shape_.rows.times;
  in_ = f_.operand(lstm::kInput);
  begin_products();
  const LstmCellTable table{stride(), cells, quantize_multiplier(scaling_.hidden.scales[0]),
                            scaling_.hidden.zero_point};
  cell_table_ = f_.constant("cell_table", DType::kI32, table.words());
  const int64_t step_gates = kGates * stride();
  gates_ = f_.scratch("gates", DType::kI16, steps() * step_gates + more_scratch(), 4);
  tir::BufferPtr output_state = f_.operand(lstm::kOutputState), cell_state = f_.operand(lstm::kCellState);
  out_ = f_.result(lstm::kOutput);
  next_output_ = f_.result(lstm::kNextOutput);
  next_cell_ = f_.result(lstm::kNextCell);
  f_.copy(next_output_, 0, output_state, 0, batches * cells);
  f_.copy(next_cell_, 0, cell_state, 0, batches * cells);
  const int64_t row_step = (shape_.rows.row(0, 1) - shape_.rows.row(0, 0)) * shape_.inputs;
  f_.loop("b", 0, batches, [&](const Ex& b) {
    const Ex h = f_.let("h", b * cells);
    f_.loop(
        "t", 0, times / steps() * steps(),
        [&](const Ex& t) {
          input_gates(f_.let("x", shape_.rows.row(b, t) * shape_.inputs), row_step, steps());
          f_.loop("s", 0, steps(), [&](const Ex& s) { step(shape_.rows.row(b, t + s), h, s * step_gates); });
        },
        steps());
    f_.loop("t", times / steps() * steps(), times, [&](const Ex& t) {
      input_gates(f_.let("x", shape_.rows.row(b, t) * shape_.inputs), row_step, 1);
      step(shape_.rows.row(b, t), h, 0);
    });
  });
  f_.algorithm(set_ == "mve" ? "vectors" : "pairs");
  return f_.finish(note());
}

// The rest of a step, behind the products with its input.
void LstmGatesLowering::step(const Ex& row, const Ex& h, const Ex& gates) {
  const Ex to = f_.let("to", row * shape_.cells), first = f_.let("first", gates);
  add_recurrent_gates(h, first);
  const int exponent = scaling_.cell_exponent;
  const bool part = set_ == "mve" && shape_.cells % 8 != 0;
  auto gate = [&](int64_t g) { return address(gates_, first + g * stride()); };
  f_.run(lstm_sigmoid_kernel(set_), {gate(0), Ex(3 * stride())});
  f_.run(lstm_tanh_kernel(set_, 3), {gate(3), Ex(shape_.cells)});
  f_.run(lstm_cell_kernel(set_, exponent, scaling_.cell_clip, part),
         {gate(0), address(next_cell_, h), address(cell_table_, 0)});
  f_.run(lstm_tanh_kernel(set_, 15 + exponent), {gate(0), Ex(shape_.cells)});
  const QuantizedMultiplier hidden = quantize_multiplier(scaling_.hidden.scales[0]);
  f_.run(lstm_hidden_kernel(set_, hidden.shift < 0, part), {gate(0), address(out_, to), address(cell_table_, 0)});
  f_.copy(next_output_, h, out_, to, shape_.cells);
}

}  // namespace aotc::cores::arm
