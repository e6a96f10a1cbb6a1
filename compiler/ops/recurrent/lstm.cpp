// SPDX-License-Identifier: Apache-2.0
// unidirectional_sequence_lstm: a recurrent layer over all steps of a sequence. Its states (the last output
// and the cells) are operands and results, so that the graph says where they are kept.
#include "ops/recurrent/lstm.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/recurrent/fixed_point.h"
#include "ops/recurrent/int16_lstm.h"
#include "ops/recurrent/int8_extras.h"
#include "ops/recurrent/recurrent.h"

namespace aotc::ops {

using namespace lstm;

const LstmPorts& lstm::ports() {
  static const LstmPorts kPorts{.input = kInput,
                                .weights = kWeights,
                                .recurrent = kRecurrent,
                                .peephole = kPeephole,
                                .bias = kBias,
                                .projection = kProjection,
                                .projection_bias = kProjectionBias,
                                .output_state = kOutputState,
                                .cell_state = kCellState,
                                .norm = kNorm,
                                .output = kOutput,
                                .next_output = kNextOutput,
                                .next_cell = kNextCell};
  return kPorts;
}

LstmSizes lstm_sizes(const OpView& op) { return {op, ports(), op.attrs<LstmAttrs>().time_major}; }

bool exponent_of_scale(float scale, int& exponent) {
  int up = 0;
  if (!(scale > 0) || std::frexp(scale, &up) != 0.5f) return false;
  exponent = up - 1;
  return true;
}

LstmScaling::LstmScaling(const OpView& op) {
  const LstmSizes shape = lstm_sizes(op);
  gates = shape.coupled ? std::vector<size_t>{1, 3, 2} : std::vector<size_t>{0, 1, 3, 2};
  sums.rounding = hidden.rounding = Rounding::kDouble;
  sums.clamp = {-(1 << 16), (1 << 16) - 1};  // beyond what a gate holds, whatever is added to it
  const auto& attrs = op.attrs<LstmAttrs>();
  auto add = [&](size_t gate, size_t weights, size_t from, const std::vector<int32_t>& start) {
    const graph::TensorType& type = op.operand(from);
    auto w = op.constant(weights)->to_vector<int8_t>();
    const size_t depth = w.size() / start.size();
    std::vector<int32_t> of_cells(start.size());
    AccRange range;
    for (size_t c = 0; c < of_cells.size(); ++c) {
      int64_t sum = 0, reach = 0;
      for (size_t k = 0; k < depth; ++k) {
        sum += w[c * depth + k];
        reach += std::abs(static_cast<int>(w[c * depth + k])) * 128;
      }
      int64_t b = start[c] - type.zero_point() * sum;
      range = {std::min(range.low, b - reach), std::max(range.high, b + reach)};
      of_cells[c] = static_cast<int32_t>(b);
    }
    bias.push_back(std::move(of_cells));
    sums.ranges.push_back(range);
    const float gate_scale = shape.normalised ? attrs.gate_scales[gate] : 1.0f / 4096.0f;
    float scale = op.operand(weights).scale() * type.scale();
    sums.scales.push_back(static_cast<double>(scale / gate_scale));
  };
  const std::vector<int32_t> nothing(at(shape.cells), 0);
  for (size_t gate : gates) {
    // Layer normalisation adds the bias behind itself.
    add(gate, kWeights + gate, kInput, shape.normalised ? nothing : op.constant(kBias + gate)->to_vector<int32_t>());
    add(gate, kRecurrent + gate, kOutputState, nothing);
  }
  const double half_product = std::ldexp(1.0, -15);
  double hidden_scale = half_product / static_cast<double>(attrs.hidden_scale) * half_product;
  hidden.scales = {static_cast<double>(static_cast<float>(hidden_scale))};
  hidden.ranges = {{-(int64_t{1} << 30), int64_t{1} << 30}};
  hidden.zero_point = static_cast<int32_t>(shape.projected ? -attrs.hidden_zero_point : attrs.hidden_zero_point);
  hidden.clamp = {-128, 127};
  float cell_scale = op.operand(kCellState).scale();
  exponent_of_scale(cell_scale, cell_exponent);
  if (attrs.cell_clip > 0) cell_clip = static_cast<int32_t>(std::min(attrs.cell_clip / cell_scale, 32767.0f));
}

namespace {

// Every output of every step, cell(batch, time, cell), and the states behind them. The output state is that of
// the step before until all cells of a step are done.
template <typename Value, typename CellState, typename Cell>
void for_each_cell(const EvalData& data, const LstmSizes& shape, Cell cell) {
  auto out = data.out<Value>(kOutput), next = data.out<Value>(kNextOutput);
  std::ranges::copy(data.in<Value>(kOutputState), next.begin());
  std::ranges::copy(data.in<CellState>(kCellState), data.out<CellState>(kNextCell).begin());
  for (int64_t t = 0; t < shape.rows.times; ++t)
    for (int64_t b = 0; b < shape.rows.batches; ++b) {
      auto to = out.subspan(at(shape.rows.row(b, t) * shape.cells), at(shape.cells));
      for (int64_t c = 0; c < shape.cells; ++c) to[at(c)] = cell(b, t, c);
      std::ranges::copy(to, next.begin() + b * shape.cells);
    }
}

class IntegerSteps {
 public:
  IntegerSteps(const OpView& op, const EvalData& data)
      : data_(data), shape_(lstm_sizes(op)), scaling_(op), hidden_(scaling_.hidden.reference(0)) {
    for (size_t c = 0; c < scaling_.bias.size(); ++c) references_.push_back(scaling_.sums.reference(c));
  }

  void run() {
    for_each_cell<int8_t, int16_t>(data_, shape_, [&](int64_t b, int64_t t, int64_t c) { return cell(b, t, c); });
  }

 private:
  int32_t sum(size_t channel, size_t weights, const int8_t* values, int64_t depth, int64_t c) const {
    int32_t acc = scaling_.bias[channel][at(c)];
    auto w = data_.in<int8_t>(weights).subspan(at(c * depth), at(depth));
    for (int64_t k = 0; k < depth; ++k) acc += w[at(k)] * values[k];
    return references_[channel](acc);
  }

  int32_t gate(size_t g, int64_t b, int64_t t, int64_t c) const {
    const int8_t* x = data_.in<int8_t>(kInput).data() + shape_.rows.row(b, t) * shape_.inputs;
    const int8_t* h = data_.out<int8_t>(kNextOutput).data() + b * shape_.cells;
    auto clamp = [](int32_t v) { return std::clamp(v, -32768, 32767); };
    int32_t first = clamp(sum(2 * g, kWeights + scaling_.gates[g], x, shape_.inputs, c));
    return clamp(first + sum(2 * g + 1, kRecurrent + scaling_.gates[g], h, shape_.cells, c));
  }

  int8_t cell(int64_t b, int64_t t, int64_t c) const {
    auto let = [](const char*, int32_t v) { return v; };
    auto sigmoid = [&](size_t g) { return fixed_point::sigmoid(gate(g, b, t, c), 3, let); };
    size_t g = shape_.coupled ? 0 : 1;
    int32_t forget = sigmoid(g), input = shape_.coupled ? fixed_point::kOne - forget : sigmoid(0);
    int32_t output = sigmoid(g + 1), fresh = fixed_point::tanh(gate(g + 2, b, t, c), 3, let);
    int16_t& kept = data_.out<int16_t>(kNextCell)[at(b * shape_.cells + c)];
    int32_t sum =
        rounding_divide_by_pot(forget * kept, 15) + rounding_divide_by_pot(input * fresh, 30 + scaling_.cell_exponent);
    sum = std::clamp(sum, -32768, 32767);
    if (scaling_.cell_clip > 0) sum = std::clamp(sum, -scaling_.cell_clip, scaling_.cell_clip);
    kept = static_cast<int16_t>(sum);
    int32_t shown = fixed_point::tanh(sum, 15 + scaling_.cell_exponent, let);
    return static_cast<int8_t>(hidden_(output * shown));
  }

  const EvalData& data_;
  LstmSizes shape_;
  LstmScaling scaling_;
  ChannelReference hidden_;
  std::vector<ChannelReference> references_;  // of the sums
};

Signature lstm_signature() {
  std::vector<OperandSpec> operands = lstm_operand_specs(kOperands, {&ports(), 1});
  operands[kInput] = {.name = "x",
                      .types = {{DType::kI8, "int16 cell state, peepholes and layer normalisation"},
                                {DType::kI16, "as TensorFlow Lite Micro has it; weights int8, biases int64"},
                                {DType::kF32, "weights float32 or int8"}},
                      .ranks = {3, 3}};
  operands[kOutputState].same_type_as = kInput;
  return {.name = "unidirectional_sequence_lstm",
          .summary = "LSTM over a sequence, its states kept from run to run",
          .operands = std::move(operands),
          .results = {{.name = "y"}, {.name = "next_output"}, {.name = "next_cell", .type_of = kCellState}},
          .all_listed = true,
          .shapes = Shapes::kOwn,
          .traits = {.uses_libm = true},
          .attributes = make_attributes<LstmAttrs>,
          .ranges = {finite<&LstmAttrs::cell_clip>("cell_clip", 0),
                     finite<&LstmAttrs::projection_clip>("projection_clip", 0)}};
}

class Lstm final : public SpecifiedOperator {
 public:
  Lstm() : SpecifiedOperator(lstm_signature()) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (op.operand(kInput).dtype == DType::kI8 && !has_int8_extras(lstm_sizes(op))) IntegerSteps(op, data).run();
    else evaluate_lowering(op, data);
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    if (op.operand(kInput).dtype == DType::kI16) return lower_int16_lstm(op);
    if (op.operand(kInput).dtype == DType::kI8 && has_int8_extras(lstm_sizes(op))) return lower_int8_extras(op);
    return op.operand(kInput).dtype == DType::kI8 ? lower_lstm(op) : lower_float(op);
  }

  int64_t macs(const OpView& op) const override { return lstm_sizes(op).macs(); }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    if (!check_lstm_operands(op, ports(), diags)) return kFailure;
    const LstmSizes s = lstm_sizes(op);
    if (!check_lstm_shapes(op, ports(), s, diags)) return kFailure;
    graph::Shape out = op.operand(kInput).shape;
    out[2] = s.outputs;
    return std::vector<graph::Shape>{out, {s.rows.batches, s.outputs}, {s.rows.batches, s.cells}};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const DType type = op.operand(kInput).dtype;
    if (!check_type(op, kCellState, {type == DType::kF32 ? type : DType::kI16}, diags)) return false;
    if (op.attrs<LstmAttrs>().nonlinearity == Nonlinearity::kNone)
      return bad_attribute(op, diags, "an LSTM has a nonlinearity");
    if (type == DType::kF32) return check_float_lstms(op, {&ports(), 1}, diags);
    if (type == DType::kI16)
      return check_int16_lstm(op, diags) && check_scales(op, diags) && check_int16_lstm_sums(op, diags);
    return check_integer(op, diags) && check_scales(op, diags) && check_hidden(op, diags) && check_sums(op, diags);
  }

 private:
  static Lowered lower_float(const OpView& op) {
    const auto& attrs = op.attrs<LstmAttrs>();
    const LstmSizes s = lstm_sizes(op);
    LoweringBuilder f(op, "lstm");
    FloatProducts products(op, f, attrs.asymmetric_rows, lstm_matrices(ports()), lstm_vectors(ports()), lstm_floats(s),
                           lstm_quantised(s));
    emit_float_lstm(f, products, ports(), s,
                    {attrs.nonlinearity, attrs.cell_clip, attrs.projection_clip, false, 0, s.outputs});
    return f.finish(has_integer_weights(op, lstm_matrices(ports())) ? "rows quantised" : "float");
  }

  static bool check_integer(const OpView& op, Diagnostics& diags) {
    const LstmSizes s = lstm_sizes(op);
    if (op.attrs<LstmAttrs>().nonlinearity != Nonlinearity::kTanh)
      return bad_attribute(op, diags, "an LSTM of int8 has tanh alone");
    for (size_t g : s.gates)
      for (size_t i : {kWeights + g, kRecurrent + g, kBias + g}) {
        if (!check_type(op, i, {i < kBias ? DType::kI8 : DType::kI32}, diags)) return false;
        if (op.constant(i) != nullptr) continue;
        diags.error(op.where(), "op-operands", fmt::format("operand {} is not constant", i))
            .help("int8 weights and biases are part of the model");
        return false;
      }
    return check_int8_extras(op, diags);
  }

  static bool check_scales(const OpView& op, Diagnostics& diags) {
    auto wrong = [&](std::string message) {
      diags.error(op.where(), "op-quantization", std::move(message));
      return false;
    };
    for (size_t i = 0; i < kOperands; ++i) {
      if (!op.has_operand(i) || (i >= kBias && i < kProjection) || i == kProjectionBias) continue;
      // Scale 0 of the output state makes the recurrent sums 0; a projection would divide by it.
      const bool is_zero = i == kOutputState && op.operand(kInput).dtype == DType::kI8 &&
                           op.operand(i).quantization.scale == std::vector<float>{0.0f} && !op.has_operand(kProjection);
      if (!is_zero && !check_per_tensor(op, op.operand_tensor(i), diags)) return false;
      const bool weights = (i >= kWeights && i < kBias) || i == kProjection || i >= kNorm;
      if (weights && op.operand(i).zero_point() != 0)
        return wrong(fmt::format("operand {} has zero point {}; weights have 0", i, op.operand(i).zero_point()));
    }
    // The int8 reference copies the output state into the output and never reads the output's scale.
    const bool same_output =
        op.operand(kInput).dtype == DType::kI8 || check_same_quantization(op, kOutputState, kOutput, diags);
    if (!same_output || !check_same_quantization(op, kOutputState, kNextOutput, diags) ||
        !check_same_quantization(op, kCellState, kNextCell, diags))
      return false;
    int exponent = 0;
    const graph::TensorType& cell = op.operand(kCellState);
    if (!exponent_of_scale(cell.scale(), exponent) || cell.zero_point() != 0 || exponent < -15 || exponent > -9)
      return wrong(
          fmt::format("the cell state has scale {} and zero point {}; the scale is a power of two from "
                      "2^-15 to 2^-9, the zero point 0",
                      cell.scale(), cell.zero_point()));
    return op.operand(kInput).dtype != DType::kI16 || check_symmetric_io(op, diags);
  }

  static bool check_hidden(const OpView& op, Diagnostics& diags) {
    const auto& attrs = op.attrs<LstmAttrs>();
    if (attrs.hidden_scale > 0 && std::isfinite(attrs.hidden_scale) && attrs.hidden_zero_point >= -128 &&
        attrs.hidden_zero_point <= 127)
      return true;
    diags.error(
        op.where(), "op-quantization",
        fmt::format("the hidden output has scale {} and zero point {}", attrs.hidden_scale, attrs.hidden_zero_point));
    return false;
  }

  // 32 bits hold every sum, and every shift to the left of one.
  static bool check_sums(const OpView& op, Diagnostics& diags) {
    LstmScaling scaling(op);
    for (size_t c = 0; c < scaling.sums.ranges.size(); ++c)
      if (!check_multiplier(op, scaling.sums.scales[c], scaling.sums.ranges[c].magnitude(), diags)) return false;
    return check_multiplier(op, scaling.hidden.scales[0], int64_t{1} << 30, diags) && check_int8_extra_sums(op, diags);
  }
};

}  // namespace

void add_operators_recurrent(OperatorSet& set) {
  set.add(std::make_unique<Lstm>());
  add_bidirectional_lstm(set);
  add_rnns(set);
}

}  // namespace aotc::ops
