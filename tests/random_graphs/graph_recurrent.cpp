// SPDX-License-Identifier: Apache-2.0
#include "graph_recurrent.h"

#include <algorithm>
#include <functional>

namespace aotc::tests {

namespace {

using graph::Shape;
using graph::TensorId;
using graph::TensorType;

class RecurrentMaker {
 public:
  explicit RecurrentMaker(GraphMaker& g) : g_(g) {}

  bool run() {
    in_ = g_.any();
    for (int tries = 0; tries < 12 && g_.of(in_).shape.size() != 3; ++tries) in_ = g_.any();
    const Shape shape = g_.of(in_).shape;
    const DType dtype = g_.of(in_).dtype;
    integer_ = dtype == DType::kI8;
    if (dtype != DType::kF32 && !integer_) return false;
    weights_ = integer_ || g_.random.chance(50) ? DType::kI8 : DType::kF32;
    if (!integer_ && shape.size() == 2 && g_.random.chance(50)) return rnn("rnn", shape[0]);
    if (shape.size() != 3) return false;
    time_major_ = g_.random.chance(50);
    attributes_["time_major"] = time_major_ ? "true" : "false";
    const int64_t batch = shape[time_major_ ? 1 : 0];
    if (integer_ || g_.random.chance(40)) return lstm(batch);
    const int64_t which = g_.random.pick(0, 2);
    return which == 0 ? both_lstms(batch) : which == 1 ? rnn("unidirectional_sequence_rnn", batch) : both_rnns(batch);
  }

 private:
  TensorType typed(DType dtype, Shape shape, float scale = 0, int64_t zero_point = 0) {
    TensorType t;
    t.dtype = dtype;
    t.shape = std::move(shape);
    if (dtype == DType::kI8 || dtype == DType::kI16) {
      t.quantization.scale = {scale};
      t.quantization.zero_point = {zero_point};
    }
    return t;
  }

  TensorId matrix(int64_t rows, int64_t depth) {
    return g_.constant(typed(weights_, {rows, depth}, g_.random.real(0.001f, 0.02f)));
  }
  TensorId bias(int64_t count) { return integer_ ? g_.constant(typed(DType::kI32, {count})) : floats(count); }
  TensorId floats(int64_t count) { return g_.constant(typed(DType::kF32, {count})); }
  TensorId norms() {
    return integer_ ? g_.constant(typed(DType::kI16, {cells_}, g_.random.real(1e-5f, 1e-3f))) : floats(cells_);
  }
  TensorId value_of(const TensorType& wanted) {
    TensorId id = g_.any_of(wanted);
    return id.valid() && g_.random.chance(50) ? id : g_.constant(wanted);
  }
  int64_t inputs() const { return g_.of(in_).shape.back(); }
  int64_t some_units() { return g_.random.chance(30) ? 4 * g_.random.pick(1, 3) : g_.random.pick(1, 6); }

  // Weights of all gates, of inputs and recurrent; peepholes, biases and projection.
  void weights_of_lstm(std::vector<TensorId>& operands, bool coupled) {
    auto gates = [&](bool there, const std::function<TensorId()>& make) {
      for (int gate = 0; gate < 4; ++gate) operands.push_back(there && (gate > 0 || !coupled) ? make() : TensorId{});
    };
    gates(true, [&] { return matrix(cells_, inputs()); });
    gates(true, [&] { return matrix(cells_, outputs_); });
    for (int gate = 0; gate < 3; ++gate)
      operands.push_back(peepholes_ && (gate > 0 || !coupled)
                             ? g_.constant(typed(integer_ ? DType::kI16 : weights_, {cells_}, integer_ ? 3e-5f : 0.01f))
                             : TensorId{});
    gates(true, [&] { return bias(cells_); });
    operands.push_back(projected_ ? matrix(outputs_, cells_) : TensorId{});
    operands.push_back(projected_ && g_.random.chance(50) ? bias(outputs_) : TensorId{});
  }

  void draw_lstm() {
    cells_ = some_units();
    projected_ = g_.random.chance(30);
    peepholes_ = g_.random.chance(30);
    outputs_ = projected_ ? some_units() : cells_;
    // LiteRT reads behind the peepholes' weights there.
    if (integer_ && peepholes_) outputs_ = std::min(outputs_, cells_);
    attributes_["cell_clip"] = g_.random.chance(30) ? "0.5" : "0";
    if (projected_) attributes_["projection_clip"] = g_.random.chance(30) ? "0.5" : "0";
    if (!integer_) draw_float();
  }
  void draw_float() {
    constexpr const char* kNames[] = {"tanh", "relu6", "relu_n1_to_1"};
    attributes_["nonlinearity"] = kNames[g_.random.pick(0, 2)];
    attributes_["asymmetric_rows"] = g_.random.chance(50) ? "true" : "false";
  }

  bool lstm(int64_t batch) {
    draw_lstm();
    const bool coupled = g_.random.chance(30);
    std::vector<TensorId> operands = {in_};
    weights_of_lstm(operands, coupled);
    const DType type = g_.of(in_).dtype;
    const TensorType state = typed(type, {batch, outputs_}, g_.random.real(0.005f, 0.01f), g_.random.pick(-20, 20));
    const TensorType cell =
        typed(integer_ ? DType::kI16 : type, {batch, cells_}, 1.0f / static_cast<float>(1 << g_.random.pick(9, 15)));
    operands.insert(operands.end(), {value_of(state), value_of(cell)});
    const bool normalised = g_.random.chance(30);
    for (int gate = 0; gate < 4; ++gate)
      operands.push_back(normalised && (gate > 0 || !coupled) ? norms() : TensorId{});
    if (integer_) {
      for (const char* gate : {"input", "forget", "cell", "output"})
        if (normalised) attributes_[std::string(gate) + "_gate_scale"] = "0.0003";
      attributes_["hidden_scale"] = "0.0078125";
      attributes_["hidden_zero_point"] = std::to_string(g_.random.pick(-9, 9));
    }
    TensorType out = state;
    out.shape = {};
    return g_.add("unidirectional_sequence_lstm", operands, attributes_, {out, state, cell});
  }

  // Results: outputs whose shapes are inferred, then states.
  std::vector<TensorType> results_of(size_t outputs, const std::vector<TensorType>& states) {
    std::vector<TensorType> out(outputs, typed(DType::kF32, {}));
    out.insert(out.end(), states.begin(), states.end());
    return out;
  }
  bool draw_merged() {
    const bool merged = g_.random.chance(50);
    attributes_["merge_outputs"] = merged ? "true" : "false";
    return merged;
  }

  bool both_lstms(int64_t batch) {
    draw_lstm();
    std::vector<TensorId> operands = {in_};
    const bool coupled[] = {g_.random.chance(30), g_.random.chance(30)};
    for (bool c : coupled) weights_of_lstm(operands, c);
    const TensorType output = typed(DType::kF32, {batch, outputs_}), cell = typed(DType::kF32, {batch, cells_});
    const std::vector<TensorType> states = {output, cell, output, cell};
    for (const TensorType& state : states) operands.push_back(value_of(state));
    const bool aux = g_.random.chance(40), weights = g_.random.chance(60);
    operands.push_back(aux ? in_ : TensorId{});
    for (bool c : coupled)
      for (int gate = 0; gate < 4; ++gate)
        operands.push_back(aux && weights && (gate > 0 || !c) ? matrix(cells_, inputs()) : TensorId{});
    return g_.add("bidirectional_sequence_lstm", operands, attributes_, results_of(draw_merged() ? 1 : 2, states));
  }

  void direction_of_rnn(std::vector<TensorId>& operands, std::vector<TensorType>& states, int64_t units,
                        int64_t batch) {
    states.push_back(typed(DType::kF32, {batch, units}));
    operands.insert(operands.end(),
                    {matrix(units, inputs()), matrix(units, units), floats(units), value_of(states.back())});
  }

  bool rnn(const char* name, int64_t batch) {
    draw_float();
    std::vector<TensorId> operands = {in_};
    std::vector<TensorType> states;
    direction_of_rnn(operands, states, some_units(), batch);
    return g_.add(name, operands, attributes_, results_of(1, states));
  }

  bool both_rnns(int64_t batch) {
    draw_float();
    std::vector<TensorId> operands = {in_};
    std::vector<TensorType> states;
    const int64_t there = some_units(), back = some_units();
    direction_of_rnn(operands, states, there, batch);
    direction_of_rnn(operands, states, back, batch);
    const bool aux = g_.random.chance(40), weights = aux && g_.random.chance(60);
    operands.insert(operands.end(), {aux ? in_ : TensorId{}, weights ? matrix(there, inputs()) : TensorId{},
                                     weights ? matrix(back, inputs()) : TensorId{}});
    return g_.add("bidirectional_sequence_rnn", operands, attributes_, results_of(draw_merged() ? 1 : 2, states));
  }

  GraphMaker& g_;
  TensorId in_;
  Attributes attributes_;
  bool integer_ = false, time_major_ = false, projected_ = false, peepholes_ = false;
  DType weights_ = DType::kF32;
  int64_t cells_ = 1, outputs_ = 1;
};

}  // namespace

bool make_recurrent(GraphMaker& graph) { return RecurrentMaker(graph).run(); }

}  // namespace aotc::tests
