// SPDX-License-Identifier: Apache-2.0
// unidirectional_sequence_lstm: a recurrent layer over all steps of a sequence. Its states (the last output
// and the cells) are operands and results, so that the graph says where they are kept.
#include "ops/lstm/lstm.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/lstm/fixed_point.h"
#include "ops/tflite_op.h"

namespace aotc::ops {

using namespace lstm;

LstmShape::LstmShape(const OpView& op) {
  const graph::Shape& in = op.operand(kInput).shape;
  time_major = op.attrs<LstmAttrs>().time_major;
  batches = in[time_major ? 1 : 0];
  times = in[time_major ? 0 : 1];
  inputs = in[2];
  cells = op.operand(kCellState).shape[1];
  coupled = !op.has_operand(kWeights + kInputGate);
}

bool exponent_of_scale(float scale, int& exponent) {
  int up = 0;
  if (!(scale > 0) || std::frexp(scale, &up) != 0.5f) return false;
  exponent = up - 1;
  return true;
}

LstmScaling::LstmScaling(const OpView& op) {
  LstmShape shape(op);
  gates = shape.coupled ? std::vector<size_t>{1, 3, 2} : std::vector<size_t>{0, 1, 3, 2};
  sums.rounding = hidden.rounding = Rounding::kDouble;
  sums.clamp = {-(1 << 16), (1 << 16) - 1};  // beyond what a gate holds, whatever is added to it
  auto add = [&](size_t weights, size_t from, const std::vector<int32_t>& start) {
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
    const float gate_scale = 1.0f / 4096.0f;
    float scale = op.operand(weights).scale() * type.scale();
    sums.scales.push_back(static_cast<double>(scale / gate_scale));
  };
  for (size_t gate : gates) {
    add(kWeights + gate, kInput, op.constant(kBias + gate)->to_vector<int32_t>());
    add(kRecurrent + gate, kOutputState, std::vector<int32_t>(static_cast<size_t>(shape.cells), 0));
  }
  const auto& attrs = op.attrs<LstmAttrs>();
  const double half_product = std::ldexp(1.0, -15);
  double hidden_scale = half_product / static_cast<double>(attrs.hidden_scale) * half_product;
  hidden.scales = {static_cast<double>(static_cast<float>(hidden_scale))};
  hidden.ranges = {{-(int64_t{1} << 30), int64_t{1} << 30}};
  hidden.zero_point = static_cast<int32_t>(attrs.hidden_zero_point);
  hidden.clamp = {-128, 127};
  float cell_scale = op.operand(kCellState).scale();
  exponent_of_scale(cell_scale, cell_exponent);
  if (attrs.cell_clip > 0) cell_clip = static_cast<int32_t>(std::min(attrs.cell_clip / cell_scale, 32767.0f));
}

namespace {

// Every output of every step, cell(batch, time, cell), and the states behind them. The output state is that of
// the step before until all cells of a step are done.
template <typename Value, typename CellState, typename Cell>
void for_each_cell(const EvalData& data, const LstmShape& shape, Cell cell) {
  auto out = data.out<Value>(kOutput), next = data.out<Value>(kNextOutput);
  std::ranges::copy(data.in<Value>(kOutputState), next.begin());
  std::ranges::copy(data.in<CellState>(kCellState), data.out<CellState>(kNextCell).begin());
  for (int64_t t = 0; t < shape.times; ++t)
    for (int64_t b = 0; b < shape.batches; ++b) {
      auto to = out.subspan(at(shape.row(b, t) * shape.cells), at(shape.cells));
      for (int64_t c = 0; c < shape.cells; ++c) to[at(c)] = cell(b, t, c);
      std::ranges::copy(to, next.begin() + b * shape.cells);
    }
}

class IntegerSteps {
 public:
  IntegerSteps(const OpView& op, const EvalData& data)
      : data_(data), shape_(op), scaling_(op), hidden_(scaling_.hidden.reference(0)) {
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
    const int8_t* x = data_.in<int8_t>(kInput).data() + shape_.row(b, t) * shape_.inputs;
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
    int32_t sum = rounding_divide_by_pot(forget * kept, 15) +
                  rounding_divide_by_pot(input * fresh, 30 + scaling_.cell_exponent);
    sum = std::clamp(sum, -32768, 32767);
    if (scaling_.cell_clip > 0) sum = std::clamp(sum, -scaling_.cell_clip, scaling_.cell_clip);
    kept = static_cast<int16_t>(sum);
    int32_t shown = fixed_point::tanh(sum, 15 + scaling_.cell_exponent, let);
    return static_cast<int8_t>(hidden_(output * shown));
  }

  const EvalData& data_;
  LstmShape shape_;
  LstmScaling scaling_;
  ChannelReference hidden_;
  std::vector<ChannelReference> references_;  // of the sums
};

class FloatSteps {
 public:
  FloatSteps(const OpView& op, const EvalData& data)
      : data_(data), shape_(op), clip_(op.attrs<LstmAttrs>().cell_clip) {}

  void run() {
    for_each_cell<float, float>(data_, shape_, [&](int64_t b, int64_t t, int64_t c) { return cell(b, t, c); });
  }

 private:
  float gate(size_t g, int64_t b, int64_t t, int64_t c) const {
    float sum = data_.in<float>(kBias + g)[at(c)];
    auto add = [&](size_t weights, const float* values, int64_t depth) {
      auto w = data_.in<float>(weights).subspan(at(c * depth), at(depth));
      for (int64_t k = 0; k < depth; ++k) sum += w[at(k)] * values[k];
    };
    add(kWeights + g, data_.in<float>(kInput).data() + shape_.row(b, t) * shape_.inputs, shape_.inputs);
    add(kRecurrent + g, data_.out<float>(kNextOutput).data() + b * shape_.cells, shape_.cells);
    return sum;
  }

  float cell(int64_t b, int64_t t, int64_t c) const {
    auto sigmoid = [&](size_t g) { return 1.0f / (1.0f + std::exp(-gate(g, b, t, c))); };
    float forget = sigmoid(1), input = shape_.coupled ? 1.0f - forget : sigmoid(0);
    float& kept = data_.out<float>(kNextCell)[at(b * shape_.cells + c)];
    float old = forget * kept;
    float sum = old + std::tanh(gate(kCellGate, b, t, c)) * input;
    if (clip_ > 0) sum = std::max(std::min(clip_, sum), -clip_);
    kept = sum;
    return sigmoid(3) * std::tanh(sum);
  }

  const EvalData& data_;
  LstmShape shape_;
  float clip_;
};

class Lstm final : public Operator {
 public:
  std::string_view name() const override { return "unidirectional_sequence_lstm"; }
  std::string_view summary() const override { return "LSTM over a sequence, its states kept from run to run"; }
  Traits traits() const override { return {.uses_libm = true}; }
  std::vector<TypeSupport> types() const override {
    return {{DType::kI8, "int16 cell state; without peepholes, projection, layer normalisation"},
            {DType::kF32, "without peepholes, projection, layer normalisation"}};
  }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<LstmAttrs>();
  }
  std::vector<int> tflite_builtins() const override { return {44}; }
  std::vector<size_t> tflite_state_operands() const override { return {18, 19}; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_operands(op, diags) || !check_rank(op, kInput, 3, 3, diags) ||
        !check_rank(op, kOutputState, 2, 2, diags) || !check_rank(op, kCellState, 2, 2, diags))
      return kFailure;
    LstmShape shape(op);
    const graph::Shape state{shape.batches, shape.cells};
    auto wants = [&](size_t operand, const graph::Shape& wanted) {
      if (!op.has_operand(operand) || op.operand(operand).shape == wanted) return true;
      return bad_shape(op, diags, fmt::format("operand {} is {}, not {}", operand,
                                              graph::to_string(op.operand(operand).shape),
                                              graph::to_string(wanted)));
    };
    bool good = wants(kOutputState, state) && wants(kCellState, state);
    for (size_t g = 0; g < kGates && good; ++g)
      good = wants(kWeights + g, {shape.cells, shape.inputs}) &&
             wants(kRecurrent + g, {shape.cells, shape.cells}) && wants(kBias + g, {shape.cells});
    if (!good) return kFailure;
    graph::Shape out = op.operand(kInput).shape;
    out[2] = shape.cells;
    return std::vector<graph::Shape>{out, state, state};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    const DType type = op.operand(kInput).dtype;
    const bool integer = type == DType::kI8;
    if (!check_type(op, kInput, {DType::kI8, DType::kF32}, diags) ||
        !check_types(op, type, integer, diags))
      return kFailure;
    if (op.result(kOutput).elements() < 1 || LstmShape(op).inputs < 1) {
      bad_shape(op, diags, "a sequence without elements");
      return kFailure;
    }
    const float clip = op.attrs<LstmAttrs>().cell_clip;
    if (!(clip >= 0) || !std::isfinite(clip)) {
      bad_attribute(op, diags, fmt::format("cell_clip is {}; it is at least 0", clip));
      return kFailure;
    }
    return !integer || check_scales(op, diags) ? success() : Status(kFailure);
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (op.operand(kInput).dtype == DType::kI8)
      IntegerSteps(op, data).run();
    else
      FloatSteps(op, data).run();
  }

  Lowered lower(const OpView& op, const TargetInfo& target) const override {
    return lower_lstm(op, target);
  }

  int64_t macs(const OpView& op) const override {
    LstmShape s(op);
    return s.batches * s.times * s.cells * (s.coupled ? 3 : 4) * (s.inputs + s.cells);
  }

  Status import_tflite(const TfliteOp& from, graph::Op& op, Diagnostics& diags) const override;

 private:
  static bool check_operands(const OpView& op, Diagnostics& diags) {
    // The input gate's are the only ones that may be absent, all of them.
    std::vector<graph::TensorId> ids = op.op.operands;
    bool whole = ids.size() == kOperands && op.op.results.size() == kResults;
    for (size_t i = 0; whole && i < ids.size(); ++i) {
      bool of_input_gate = i == kWeights || i == kRecurrent || i == kBias;
      whole = ids[i].valid() || (of_input_gate && !ids[kWeights].valid());
      if (of_input_gate && !ids[kWeights].valid()) whole = whole && !ids[i].valid();
    }
    if (whole) return true;
    diags.error(op.where(), "op-operands",
                fmt::format("it takes {} operands (weights, recurrent weights and bias of the input gate "
                            "may be left out together) and gives {} results",
                            kOperands, kResults));
    return false;
  }

  static bool check_types(const OpView& op, DType type, bool integer, Diagnostics& diags) {
    bool good = check_type(op, kOutputState, {type}, diags) &&
                check_type(op, kCellState, {integer ? DType::kI16 : type}, diags) &&
                check_result_type(op, kOutput, type, diags) &&
                check_result_type(op, kNextOutput, type, diags) &&
                check_result_type(op, kNextCell, op.operand(kCellState).dtype, diags);
    for (size_t g = 0; g < kGates && good; ++g) {
      if (!op.has_operand(kWeights + g)) continue;
      good = check_type(op, kWeights + g, {type}, diags) && check_type(op, kRecurrent + g, {type}, diags) &&
             check_type(op, kBias + g, {integer ? DType::kI32 : type}, diags);
      for (size_t i : {kWeights + g, kRecurrent + g, kBias + g})
        if (good && integer && op.constant(i) == nullptr) {
          diags.error(op.where(), "op-operands", fmt::format("operand {} is not constant", i))
              .help("int8 weights and biases are part of the model");
          good = false;
        }
    }
    return good;
  }

  static bool check_scales(const OpView& op, Diagnostics& diags) {
    auto wrong = [&](std::string message) {
      diags.error(op.where(), "op-quantization", std::move(message));
      return false;
    };
    for (size_t i = 0; i < kOperands; ++i) {
      if (!op.has_operand(i) || op.operand(i).dtype == DType::kI32) continue;
      if (!check_per_tensor(op, op.operand_tensor(i), diags)) return false;
      if (i >= kWeights && i < kBias && op.operand(i).zero_point() != 0)
        return wrong(fmt::format("operand {} has zero point {}; weights have 0", i, op.operand(i).zero_point()));
    }
    if (!check_same_quantization(op, kOutputState, kNextOutput, diags) ||
        !check_same_quantization(op, kOutputState, kOutput, diags) ||
        !check_same_quantization(op, kCellState, kNextCell, diags))
      return false;
    int exponent = 0;
    const graph::TensorType& cell = op.operand(kCellState);
    if (!exponent_of_scale(cell.scale(), exponent) || cell.zero_point() != 0 || exponent < -15 || exponent > -9)
      return wrong(fmt::format("the cell state has scale {} and zero point {}; the scale is a power of two from "
                               "2^-15 to 2^-9, the zero point 0",
                               cell.scale(), cell.zero_point()));
    const auto& attrs = op.attrs<LstmAttrs>();
    if (!(attrs.hidden_scale > 0) || !std::isfinite(attrs.hidden_scale) || attrs.hidden_zero_point < -128 ||
        attrs.hidden_zero_point > 127)
      return wrong(fmt::format("the hidden output has scale {} and zero point {}", attrs.hidden_scale,
                               attrs.hidden_zero_point));
    return check_sums(op, diags);
  }

  // 32 bits hold every sum, and every shift to the left of one.
  static bool check_sums(const OpView& op, Diagnostics& diags) {
    LstmScaling scaling(op);
    for (size_t c = 0; c < scaling.sums.ranges.size(); ++c)
      if (!check_multiplier(op, scaling.sums.scales[c], scaling.sums.ranges[c].magnitude(), diags)) return false;
    return check_multiplier(op, scaling.hidden.scales[0], int64_t{1} << 30, diags);
  }
};

Status Lstm::import_tflite(const TfliteOp& from, graph::Op& op, Diagnostics& diags) const {
  auto refuse = [&](const char* what) {
    diags.error(op.location, "op-attribute", fmt::format("{} is not supported", what))
        .help("a Keras LSTM layer with its default activations is");
    return Status(kFailure);
  };
  auto attrs = std::make_shared<LstmAttrs>();
  op.attributes = attrs;
  const auto* options = from.options<tflite_schema::UnidirectionalSequenceLSTMOptions>();
  if (options == nullptr || options->fused_activation_function() != tflite_schema::ActivationFunctionType_TANH)
    return refuse("an activation other than tanh");
  if (options->diagonal_recurrent_tensors()) return refuse("a diagonal of recurrent weights");
  attrs->time_major = options->time_major();
  attrs->cell_clip = options->cell_clip();
  std::vector<graph::TensorId> given = op.operands;
  given.resize(std::max<size_t>(given.size(), 24));
  auto any = [&](size_t first, size_t last) {
    return std::any_of(given.begin() + static_cast<long>(first), given.begin() + static_cast<long>(last),
                       [](graph::TensorId id) { return id.valid(); });
  };
  if (any(9, 12)) return refuse("a peephole from the cells to the gates");
  if (any(16, 18)) return refuse("a projection of the output");
  if (any(20, 24)) return refuse("layer normalisation");
  if (auto hidden = from.intermediate_quantization(4)) {
    attrs->hidden_scale = hidden->first;
    attrs->hidden_zero_point = hidden->second;
  }
  op.operands.assign(given.begin(), given.begin() + 9);
  op.operands.insert(op.operands.end(), given.begin() + 12, given.begin() + 16);
  op.operands.insert(op.operands.end(), {given[18], given[19]});
  return success();
}

}  // namespace

void add_operators_lstm(OperatorSet& set) { set.add(std::make_unique<Lstm>()); }

}  // namespace aotc::ops
