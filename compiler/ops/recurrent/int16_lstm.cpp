// SPDX-License-Identifier: Apache-2.0
// The one thing to know: this is TensorFlow Lite Micro's chain of whole operators, each of which rounds. A gate is the
// sum of two fully connected layers of int16, saturated; its curve is that of LOGISTIC or TANH of int16, read from a
// table; cells are sums of products of which each is rounded twice.
#include "ops/recurrent/int16_lstm.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/sigmoid_table.h"
#include "ops/common/wide_requantize.h"
#include "ops/recurrent/lstm.h"

namespace aotc::ops {

using namespace lstm;
using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kGateCount = 4;  // in the order of the operands: input, forget, cell, output

// Channel 2 * gate: of the input; behind it: of the output state.
struct Int16Scaling {
  WideScaling sums;
  Requantization products;  // forget gate times cell, input gate times fresh cell
  Requantization hidden;    // output gate times what the cell shows
  int cell_exponent = 0;    // the cell state's scale is 2 to it
  int32_t cell_clip = 0;    // 0: none

  explicit Int16Scaling(const OpView& op) {
    sums.rounding = WideRounding::kOnce;
    sums.clamp = {-32768, 32767};
    for (size_t g = 0; g < at(kGateCount); ++g) {
      add_sums(op, kWeights + g, kInput, op.constant(kBias + g)->to_vector<int64_t>());
      add_sums(op, kRecurrent + g, kOutputState, {});
    }
    const float cell_scale = op.operand(kCellState).scale();
    exponent_of_scale(cell_scale, cell_exponent);
    const double unit = std::ldexp(1.0, -15);
    products.scales = {unit, unit * unit / static_cast<double>(cell_scale)};
    products.clamp = hidden.clamp = {-32768, 32767};
    hidden.scales = {unit * unit / static_cast<double>(op.operand(kOutputState).scale())};
    products.ranges.assign(2, {-(int64_t{1} << 30), int64_t{1} << 30});
    hidden.ranges.assign(1, products.ranges[0]);
    const auto clip = static_cast<double>(op.attrs<LstmAttrs>().cell_clip);
    if (clip > 0) cell_clip = static_cast<int32_t>(std::min(clip / static_cast<double>(cell_scale), 32767.0));
  }

 private:
  void add_sums(const OpView& op, size_t weights, size_t from, const std::vector<int64_t>& bias) {
    constexpr int64_t kMostBias = int64_t{1} << 60;  // far beyond what is let through
    auto w = op.constant(weights)->to_vector<int8_t>();
    const auto cells = static_cast<size_t>(op.operand(weights).shape[0]), depth = w.size() / cells;
    AccRange range;
    for (size_t c = 0; c < cells; ++c) {
      int64_t reach = 0;
      for (size_t k = 0; k < depth; ++k) reach += std::abs(int64_t{w[c * depth + k]}) * 32768;
      const int64_t start = bias.empty() ? 0 : std::clamp(bias[c], -kMostBias, kMostBias);
      range = {std::min(range.low, start - reach), std::max(range.high, start + reach)};
    }
    sums.ranges.push_back(range);
    const float product = op.operand(from).scale() * op.operand(weights).scale();
    sums.scales.push_back(static_cast<double>(product) * 4096.0);
  }
};

class Int16LstmLowering {
 public:
  explicit Int16LstmLowering(const OpView& op)
      : op_(op), f_(op, "lstm_int16"), s_(lstm_sizes(op)), scaling_(op), in_(f_.operand(kInput)) {}

  Lowered run() {
    pack();
    BufferPtr output_state = f_.operand(kOutputState), cell_state = f_.operand(kCellState);
    out_ = f_.result(kOutput);
    next_output_ = f_.result(kNextOutput);
    next_cell_ = f_.result(kNextCell);
    gates_ = f_.local("gates", DType::kI32, kGateCount);
    sums_->begin(f_);
    products_->begin(f_);
    hidden_->begin(f_);
    f_.copy(next_output_, 0, output_state, 0, s_.rows.batches * s_.cells);
    f_.copy(next_cell_, 0, cell_state, 0, s_.rows.batches * s_.cells);
    f_.loop("t", 0, s_.rows.times,
            [&](const Ex& t) { f_.loop("b", 0, s_.rows.batches, [&](const Ex& b) { step(t, b); }); });
    return f_.finish("operator by operator");
  }

 private:
  // Weights [cell][gate][input], recurrent ones alike, biases [cell][gate].
  void pack() {
    std::vector<int8_t> weights, recurrent;
    std::vector<int64_t> bias;
    for (int64_t c = 0; c < s_.cells; ++c)
      for (size_t g = 0; g < at(kGateCount); ++g) {
        append_row(weights, kWeights + g, c, s_.inputs);
        append_row(recurrent, kRecurrent + g, c, s_.cells);
        bias.push_back(op_.constant(kBias + g)->get<int64_t>(c));
      }
    weights_ = f_.constant("weights", DType::kI8, weights);
    recurrent_ = f_.constant("recurrent_weights", DType::kI8, recurrent);
    if (scaling_.sums.wide()) bias_ = f_.constant("bias", DType::kI64, bias, 8);
    else bias_ = f_.constant("bias", DType::kI32, std::vector<int32_t>(bias.begin(), bias.end()));
    sums_.emplace(f_, scaling_.sums);
    products_.emplace(f_, scaling_.products);
    hidden_.emplace(f_, scaling_.hidden);
    curve_.emplace(f_);
  }

  void append_row(std::vector<int8_t>& to, size_t operand, int64_t row, int64_t width) {
    for (int64_t k = 0; k < width; ++k) to.push_back(op_.constant(operand)->get<int8_t>(row * width + k));
  }

  void step(const Ex& t, const Ex& b) {
    Ex row = f_.let("row", s_.rows.row(b, t));
    Ex x = f_.let("x", row * s_.inputs), h = f_.let("h", b * s_.cells), to = f_.let("to", row * s_.cells);
    f_.loop("c", 0, s_.cells, [&](const Ex& c) {
      f_.loop("g", 0, kGateCount, [&](const Ex& g) {
        Ex of_gate = f_.let("of_gate", c * kGateCount + g);
        Ex start = load(bias_, of_gate);
        Ex of_input = layer(weights_, of_gate, s_.inputs, in_, x, start, g * 2);
        Ex zero = scaling_.sums.wide() ? tir::i64(0) : Ex(0);
        Ex of_state = layer(recurrent_, of_gate, s_.cells, next_output_, h, zero, g * 2 + 1);
        f_.store(gates_, g, saturated(of_input + of_state));
      });
      f_.store(out_, to + c, cell(h, c));
    });
    f_.copy(next_output_, h, out_, to, s_.cells);
  }

  static Ex saturated(const Ex& v) { return clamp(v, Ex(-32768), Ex(32767)); }

  // A fully connected layer's output.
  Ex layer(const BufferPtr& weights, const Ex& of_gate, int64_t depth, const BufferPtr& values, const Ex& first,
           const Ex& start, const Ex& channel) {
    Ex sum = f_.var("sum", start), row = f_.let("w", of_gate * depth);
    f_.loop("k", 0, depth, [&](const Ex& k) {
      Ex product = load(weights, row + k) * load(values, first + k);
      f_.assign(sum, sum + (scaling_.sums.wide() ? cast(DType::kI64, product) : product));
    });
    return f_.let("layer", sums_->emit(f_, sum, sums_->prepare(f_, f_.let("channel", channel))));
  }

  Ex curve(const Ex& stored, int exponent, Sigmoid kind) {
    // In units of 1 / (3 * 4096).
    const int left = exponent + 12;
    Ex x = left >= 0 ? stored * (3 << left) : (stored * 3 + (1 << (-left - 1))) >> -left;
    return f_.let(kind == Sigmoid::kTanh ? "tanh" : "sigmoid", curve_->emit(f_, f_.let("x", x), kind));
  }

  Ex gate(int64_t g) {
    return curve(f_.let("gate", load(gates_, g)), -12, g == kCellGate ? Sigmoid::kTanh : Sigmoid::kLogistic);
  }

  Ex cell(const Ex& h, const Ex& c) {
    Ex input = gate(0), forget = gate(1), fresh = gate(kCellGate), output = gate(3);
    Ex kept = f_.let("kept", products_->emit(f_, f_.let("old", forget * load(next_cell_, h + c)), Ex(0)));
    Ex added = f_.let("added", products_->emit(f_, f_.let("new", input * fresh), Ex(1)));
    Ex state = f_.let("state", saturated(kept + added));
    if (scaling_.cell_clip > 0) state = f_.let("state", clamp(state, Ex(-scaling_.cell_clip), Ex(scaling_.cell_clip)));
    f_.store(next_cell_, h + c, state);
    Ex shown = curve(state, scaling_.cell_exponent, Sigmoid::kTanh);
    return hidden_->emit(f_, f_.let("product", shown * output), Ex(0));
  }

  const OpView& op_;
  LoweringBuilder f_;
  LstmSizes s_;
  Int16Scaling scaling_;
  BufferPtr in_, out_, next_output_, next_cell_, weights_, recurrent_, bias_, gates_;
  std::optional<WideRequantizer> sums_;
  std::optional<Requantizer> products_, hidden_;
  std::optional<SigmoidCurve> curve_;
};

}  // namespace

bool check_int16_lstm_sums(const OpView& op, Diagnostics& diags) {
  const Int16Scaling scaling(op);
  for (size_t c = 0; c < scaling.sums.scales.size(); ++c) {
    if (scaling.sums.ranges[c].magnitude() < int64_t{1} << 47 && scaling.sums.scales[c] < 128.0) continue;
    diags
        .error(op.where(), "op-quantization",
               fmt::format("the sums of a gate reach {} with a multiplier of {:g}, beyond the reference's 48 bits",
                           scaling.sums.ranges[c].magnitude(), scaling.sums.scales[c]))
        .help("the reference result is undefined for such a layer; re-quantise the model");
    return false;
  }
  return check_multiplier(op, scaling.products.scales[1], int64_t{1} << 30, diags) &&
         check_multiplier(op, scaling.hidden.scales[0], int64_t{1} << 30, diags);
}

bool check_int16_lstm(const OpView& op, Diagnostics& diags) {
  const LstmSizes s = lstm_sizes(op);
  if (s.peepholes || s.projected || s.normalised || s.coupled) {
    diags
        .error(op.where(), "op-type",
               fmt::format("{} of int16 is not supported", s.peepholes    ? "a peephole from the cells to the gates"
                                                           : s.projected  ? "a projection of the output"
                                                           : s.normalised ? "layer normalisation"
                                                                          : "an input gate coupled to the forget gate"))
        .help("no other runtime has it; float32 or int8 weights under float activations are");
    return false;
  }
  if (op.attrs<LstmAttrs>().nonlinearity != Nonlinearity::kTanh)
    return bad_attribute(op, diags, "an LSTM of int16 has tanh alone");
  for (size_t g = 0; g < at(kGateCount); ++g)
    for (size_t i : {kWeights + g, kRecurrent + g, kBias + g}) {
      if (!check_type(op, i, {i < kBias ? DType::kI8 : DType::kI64}, diags)) return false;
      if (op.constant(i) != nullptr) continue;
      diags.error(op.where(), "op-operands", fmt::format("operand {} is not constant", i))
          .help("int8 weights and biases are part of the model");
      return false;
    }
  return true;
}

Lowered lower_int16_lstm(const OpView& op) { return Int16LstmLowering(op).run(); }

}  // namespace aotc::ops
