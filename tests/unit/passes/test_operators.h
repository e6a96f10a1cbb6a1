// SPDX-License-Identifier: Apache-2.0
// Operators for testing passes without depending on any folder of compiler/ops: each has exactly
// the properties that passes look at, and a real evaluation, so that tests can compare what a graph
// computes before and after a pass.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "ops/common/activation.h"
#include "ops/operator.h"
#include "passes/pipeline.h"

namespace aotc::passes {

// Counts, types and shapes are not checked: tests write them right, and is_valid has other tests.
template <typename Attrs>
class TestOperator : public ops::Operator {
 public:
  using ops::Operator::Operator;
  std::string_view summary() const override { return "for tests"; }
  std::vector<ops::TypeSupport> types() const override { return {}; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override { return std::make_shared<Attrs>(); }
  Status verify(const ops::OpView&, Diagnostics&) const override { return success(); }
  Result<std::vector<graph::Shape>> infer(const ops::OpView& op, Diagnostics&) const override {
    return std::vector<graph::Shape>{op.operand(0).shape};
  }
  ops::Lowered lower(const ops::OpView&, const ops::TargetInfo&) const override { return {}; }
};

inline float real_value(const graph::TensorType& type, const uint8_t* bytes, int64_t i) {
  if (type.dtype == DType::kI8)
    return static_cast<float>(static_cast<int8_t>(bytes[i]) - type.zero_point()) * type.scale();
  float value;
  std::memcpy(&value, bytes + 4 * i, 4);
  return value;
}

inline void store_real(const graph::TensorType& type, uint8_t* bytes, int64_t i, float value) {
  if (type.dtype == DType::kI8) {
    float q = std::round(value / type.scale()) + static_cast<float>(type.zero_point());
    bytes[i] = static_cast<uint8_t>(static_cast<int8_t>(std::min(std::max(q, -128.0f), 127.0f)));
  } else {
    std::memcpy(bytes + 4 * i, &value, 4);
  }
}

// An elementwise function of the real value.
template <typename Attrs = graph::NoAttributes>
class MapOperator : public TestOperator<Attrs> {
 public:
  ops::Traits traits() const override { return {.elementwise = true}; }
  virtual float apply(float x, const graph::Op& op) const = 0;
  void evaluate(const ops::OpView& op, const ops::EvalData& data) const override {
    for (int64_t i = 0; i < op.result().elements(); ++i)
      store_real(op.result(), data.results[0].data(), i,
                 apply(real_value(op.operand(0), data.operands[0].data(), i), op.op));
  }
};

class TestConvert final : public MapOperator<> {
 public:
  std::string_view name() const override { return "test_convert"; }
  ops::Traits traits() const override { return {.elementwise = true, .conversion = true}; }
  float apply(float x, const graph::Op&) const override { return x; }
};

class TestNegate final : public MapOperator<> {
 public:
  std::string_view name() const override { return "test_negate"; }
  float apply(float x, const graph::Op&) const override { return -x; }
};

struct TestClampAttrs : graph::Attributes<TestClampAttrs> {
  ops::Activation claim = ops::Activation::kRelu;
  float least = 0.0f;
  float most = INFINITY;
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("claim", self.claim);
    field("least", self.least);
    field("most", self.most);
  }
};

// Clamps to [least, most] and says that this is the activation `claim`, true or not.
class TestClamp final : public MapOperator<TestClampAttrs>, public ops::Fusable {
 public:
  std::string_view name() const override { return "test_clamp"; }
  float apply(float x, const graph::Op& op) const override {
    const auto& attrs = op.attrs<TestClampAttrs>();
    return std::min(std::max(x, attrs.least), attrs.most);
  }
  std::optional<ops::Activation> as_activation(const ops::OpView& op) const override {
    return op.attrs<TestClampAttrs>().claim;
  }
};

struct TestPadAttrs : graph::Attributes<TestPadAttrs> {
  std::vector<int64_t> before = {0, 0, 0, 0};
  std::vector<int64_t> after = {0, 0, 0, 0};
  float fill = 0.0f;
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("before", self.before);
    field("after", self.after);
    field("fill", self.fill);
  }
};

// Pads a rank-4 tensor with the real value `fill`.
class TestPad final : public TestOperator<TestPadAttrs>, public ops::Fusable {
 public:
  std::string_view name() const override { return "test_pad"; }
  Result<std::vector<graph::Shape>> infer(const ops::OpView& op, Diagnostics&) const override {
    graph::Shape shape = op.operand(0).shape;
    const auto& attrs = op.attrs<TestPadAttrs>();
    for (size_t i = 0; i < 4; ++i) shape[i] += attrs.before[i] + attrs.after[i];
    return std::vector<graph::Shape>{shape};
  }
  bool is_identity(const ops::OpView& op) const override { return op.operand(0).shape == op.result().shape; }
  std::optional<ops::Padding> as_padding(const ops::OpView& op) const override {
    const auto& attrs = op.attrs<TestPadAttrs>();
    ops::Padding padding{attrs.before, attrs.after, {}};
    padding.fill.resize(static_cast<size_t>(size_of(op.result().dtype)));
    store_real(op.result(), padding.fill.data(), 0, attrs.fill);
    return padding;
  }
  void evaluate(const ops::OpView& op, const ops::EvalData& data) const override {
    const auto& attrs = op.attrs<TestPadAttrs>();
    const graph::Shape& in = op.operand(0).shape;
    const graph::Shape& out = op.result().shape;
    for (int64_t i = 0; i < op.result().elements(); ++i) {
      int64_t rest = i;
      int64_t from = 0;
      int64_t step = 1;
      bool inside = true;
      for (size_t axis = 4; axis-- > 0;) {
        int64_t at = rest % out[axis] - attrs.before[axis];
        rest /= out[axis];
        inside = inside && at >= 0 && at < in[axis];
        from += at * step;
        step *= in[axis];
      }
      float value = inside ? real_value(op.operand(0), data.operands[0].data(), from) : attrs.fill;
      store_real(op.result(), data.results[0].data(), i, value);
    }
  }
};

struct TestViewAttrs : graph::Attributes<TestViewAttrs> {
  std::vector<int64_t> shape;
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("shape", self.shape);
  }
};

// A reshape.
class TestView final : public TestOperator<TestViewAttrs> {
 public:
  std::string_view name() const override { return "test_view"; }
  ops::Traits traits() const override { return {.view = true}; }
  Result<std::vector<graph::Shape>> infer(const ops::OpView& op, Diagnostics&) const override {
    return std::vector<graph::Shape>{op.attrs<TestViewAttrs>().shape};
  }
  void evaluate(const ops::OpView&, const ops::EvalData&) const override {}
};

// A view whose shape depends on its operand's: drops the first dimension.
class TestDropFirst final : public TestOperator<graph::NoAttributes> {
 public:
  std::string_view name() const override { return "test_drop_first"; }
  ops::Traits traits() const override { return {.view = true}; }
  Result<std::vector<graph::Shape>> infer(const ops::OpView& op, Diagnostics&) const override {
    const graph::Shape& shape = op.operand(0).shape;
    return std::vector<graph::Shape>{{shape.begin() + 1, shape.end()}};
  }
  void evaluate(const ops::OpView&, const ops::EvalData&) const override {}
};

// Two results: the operand, and its negative.
class TestTwo final : public TestOperator<graph::NoAttributes> {
 public:
  std::string_view name() const override { return "test_two"; }
  Result<std::vector<graph::Shape>> infer(const ops::OpView& op, Diagnostics&) const override {
    return std::vector<graph::Shape>(2, op.operand(0).shape);
  }
  void evaluate(const ops::OpView& op, const ops::EvalData& data) const override {
    for (int64_t i = 0; i < op.result().elements(); ++i) {
      float x = real_value(op.operand(0), data.operands[0].data(), i);
      store_real(op.result(0), data.results[0].data(), i, x);
      store_real(op.result(1), data.results[1].data(), i, -x);
    }
  }
};

inline const graph::OpDefinition* find_definition(std::string_view name) {
  static const ops::OperatorSet set = [] {
    ops::OperatorSet made;
    made.add(std::make_unique<TestConvert>());
    made.add(std::make_unique<TestNegate>());
    made.add(std::make_unique<TestClamp>());
    made.add(std::make_unique<TestPad>());
    made.add(std::make_unique<TestView>());
    made.add(std::make_unique<TestDropFirst>());
    made.add(std::make_unique<TestTwo>());
    return made;
  }();
  const ops::Operator* test = set.find(name);
  return test != nullptr ? test : ops::operators().find(name);
}

inline graph::Graph parse_graph(const std::string& text) {
  Diagnostics diags;
  auto graph = graph::parse(text, "t.air", find_definition, diags);
  EXPECT_TRUE(graph.ok()) << diags.str();
  if (!graph) return {};
  EXPECT_TRUE(ops::verify_graph(*graph, diags)) << diags.str();
  return std::move(*graph);
}

inline std::vector<std::vector<uint8_t>> output_bytes(const graph::Graph& graph, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<uint8_t>> inputs;
  for (const graph::Port& port : graph.inputs) {
    const graph::TensorType& type = graph[port.tensor].type;
    inputs.emplace_back(static_cast<size_t>(type.bytes()));
    for (int64_t i = 0; i < type.elements(); ++i) {
      // As real values on an int8 grid, so that float and quantised inputs can mean the same.
      int byte = static_cast<int>(random() % 256) - 128;
      if (type.dtype == DType::kI8) {
        inputs.back()[static_cast<size_t>(i)] = static_cast<uint8_t>(byte);
      } else {
        store_real(type, inputs.back().data(), i, static_cast<float>(byte) * 0.25f);
      }
    }
  }
  auto values = ops::evaluate_graph(graph, inputs);
  std::vector<std::vector<uint8_t>> outputs;
  for (const graph::Port& port : graph.outputs) outputs.push_back(values[static_cast<size_t>(port.tensor.value)]);
  return outputs;
}

// Runs passes by name over the text; the result verifies and, unless `same` is false, computes the
// same output bytes for the same input bytes.
inline graph::Graph run_on(const std::string& names, const std::string& text, PassOptions options = {},
                           bool same = true) {
  graph::Graph graph = parse_graph(text);
  graph::Graph before = graph;
  Diagnostics diags;
  auto passes = parse_pass_list(names, diags);
  EXPECT_TRUE(passes.ok()) << diags.str();
  RunOptions run;
  run.passes = options;
  run.verify_each = true;
  EXPECT_TRUE(run_passes(graph, *passes, run, diags)) << diags.str();
  for (unsigned seed = 0; same && seed < 4; ++seed) EXPECT_EQ(output_bytes(graph, seed), output_bytes(before, seed));
  return graph;
}

// The operators' names in order.
inline std::vector<std::string> op_names(const graph::Graph& graph) {
  std::vector<std::string> names;
  for (const graph::Op& op : graph.ops) names.emplace_back(op.name());
  return names;
}

using Names = std::vector<std::string>;

}  // namespace aotc::passes
