// SPDX-License-Identifier: Apache-2.0
#include "generator.h"

#include <algorithm>

#include <fmt/format.h>

#include "control_maker.h"
#include "graph_maker.h"
#include "graph_windows.h"
#include "ops/operator.h"
#include "rows_maker.h"
#include "unrolled_maker.h"

namespace aotc::tests {

using graph::Graph;
using graph::TensorId;
using graph::TensorType;

namespace {

class Generator {
 public:
  Generator(uint64_t seed, Kind kind) : random_(seed), kind_(kind), control_(random_) {
    int64_t draw = random_.pick(1, 100);
    DType main_type = draw <= 52 ? DType::kI8 : draw <= 68 ? DType::kI16 : DType::kF32;
    name_ = fmt::format("random_{}", seed);
    maker_ = graph_maker(random_, main_type, name_);
  }

  Graph run() {
    if (kind_ == Kind::kRows) return rows_graph(random_, maker_->main_type, name_);
    if (kind_ == Kind::kUnrolled) return unrolled_graph(random_, maker_->main_type, name_);
    const bool windows = kind_ == Kind::kControl && random_.chance(40);
    const bool control = kind_ == Kind::kControl && !windows && random_.chance(80);
    if (control)
      for (int64_t i = random_.pick(1, 2); i > 0; --i)
        maker_->add_input(maker_->type(DType::kBool, random_.chance(60) ? graph::Shape{1} : graph::Shape{}));
    for (int64_t i = random_.pick(1, 3); i > 0; --i) add_input();
    if (kind_ == Kind::kPlain) {
      for (int64_t i = random_.pick(1, 14); i > 0; --i) maker_->add_op();
      choose_outputs();
      return std::move(maker_->made);
    }
    if (windows ? random_.chance(30) : !control || random_.chance(60)) add_states();
    if (windows) add_windows();
    else if (control) control_.steps(*maker_, 0, random_.pick(1, 8));
    else
      for (int64_t i = random_.pick(0, 10); i > 0; --i) maker_->add_op();
    choose_outputs();
    for (graph::State& state : maker_->made.states)
      if (!state.after.valid()) state.after = next_of(state);
    return std::move(maker_->made);
  }

 private:
  TensorType input_type() {
    DType dtype = random_.chance(90) ? maker_->main_type : random_.chance(50) ? DType::kF32 : DType::kI32;
    return maker_->type(dtype, maker_->random_shape());
  }

  void add_input() { maker_->add_input(input_type()); }

  // Operators, and in between states that are windows.
  void add_windows() {
    WindowMaker windows(*maker_);
    for (int64_t i = random_.pick(1, 3); i > 0; --i) {
      for (int64_t ops = random_.pick(0, 3); ops > 0; --ops) maker_->add_op();
      windows.add();
    }
    for (int64_t i = random_.pick(0, 5); i > 0; --i) maker_->add_op();
    windows.finish();
  }

  // What they are next is chosen behind everything else.
  void add_states() {
    Graph& made = maker_->made;
    for (int64_t i = random_.pick(1, 3); i > 0; --i) {
      TensorType type = random_.chance(40) ? maker_->of(made.inputs.back().tensor) : input_type();
      if (!made.states.empty() && random_.chance(50)) type = maker_->of(made.states[0].before);
      TensorId before = made.add_tensor({fmt::format("state{}", made.states.size()), type, {}, 0});
      maker_->known.push_back(before);
      std::vector<uint8_t> bytes = random_bytes(random_, type);
      if (random_.chance(30)) bytes.assign(bytes.size(), 0);
      made.states.push_back({before, {}, graph::own_bytes(std::move(bytes))});
    }
  }

  TensorId next_of(const graph::State& state) {
    Graph& made = maker_->made;
    const TensorType type = maker_->of(state.before);
    auto fits = [&](TensorId id) { return maker_->of(id) == type && maker_->bounded(id); };
    const int64_t draw = random_.pick(1, 100);
    if (draw <= 25) {
      const graph::State& other =
          made.states[static_cast<size_t>(random_.pick(0, static_cast<int64_t>(made.states.size()) - 1))];
      if (fits(other.before)) return other.before;
    } else if (draw <= 45) {
      for (const auto* ports : {&made.outputs, &made.inputs})
        for (const graph::Port& port : *ports)
          if (fits(port.tensor) && random_.chance(60)) return port.tensor;
    } else if (draw <= 60) {
      if (TensorId id = control_.read_before(*maker_, type); id.valid()) return id;
    }
    return control_.make(*maker_, type, 0);
  }

  // What nobody reads, some that others read too, sometimes one twice, an input, a state or a constant.
  void choose_outputs() {
    Graph& made = maker_->made;
    graph::UseDef uses = graph::compute_use_def(made);
    std::vector<TensorId> chosen;
    for (TensorId id : maker_->known) {
      auto i = static_cast<size_t>(id.value);
      bool computed = uses.definer[i] >= 0;
      if (is_next(id) && random_.chance(85)) continue;
      if (computed && (uses.users[i].empty() ? random_.chance(85) : random_.chance(12))) chosen.push_back(id);
    }
    if (chosen.empty()) chosen.push_back(is_next(maker_->last()) ? maker_->known[0] : maker_->last());
    if (random_.chance(8)) chosen.push_back(chosen[0]);
    if (random_.chance(5)) chosen.push_back(maker_->known[0]);
    for (const graph::State& state : made.states)
      if (random_.chance(state.after.valid() ? 5 : 25)) chosen.push_back(state.before);
    for (TensorId id : chosen) made.outputs.push_back({id, fmt::format("out{}", made.outputs.size())});
  }

  // What a window holds next is rarely an output as well: it would be none.
  bool is_next(TensorId id) const {
    const auto& states = maker_->made.states;
    return std::any_of(states.begin(), states.end(), [&](const graph::State& state) { return state.after == id; });
  }

  Random random_;
  Kind kind_;
  std::string name_;
  ControlMaker control_;
  std::unique_ptr<GraphMaker> maker_;
};

}  // namespace

Graph random_graph(uint64_t seed, Kind kind) { return Generator(seed, kind).run(); }

std::vector<std::vector<uint8_t>> random_inputs(const Graph& graph, uint64_t seed) {
  Random random(seed ^ 0xA5A5A5A5u);
  std::vector<std::vector<uint8_t>> out;
  for (const graph::Port& port : graph.inputs) out.push_back(random_bytes(random, graph[port.tensor].type));
  return out;
}

}  // namespace aotc::tests
