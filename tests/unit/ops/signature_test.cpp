// SPDX-License-Identifier: Apache-2.0
// Signatures: which operators the checks accept, what they report, and the shapes that follow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/signature.h"

namespace aotc::ops {
namespace signature_test {
namespace {

using graph::Shape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct TestAttrs : graph::Attributes<TestAttrs> {
  int32_t axis = 0, bits = 3;
  float scale = 1.0f;
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("axis", self.axis);
    field("bits", self.bits);
    field("scale", self.scale);
  }
};

template <typename T, typename V>
TestAttrs with(T TestAttrs::* field, V value) {
  TestAttrs attrs;
  attrs.*field = static_cast<T>(value);
  return attrs;
}

class Specified final : public SpecifiedOperator {
 public:
  using SpecifiedOperator::SpecifiedOperator;
  void evaluate(const OpView&, const EvalData&) const override {}
  Lowered lower(const OpView&, const TargetInfo&) const override { return {}; }
};

graph::TensorType type_of(DType type, Shape shape, float scale = 0) {
  return {type, std::move(shape), scale > 0 ? graph::Quantization{{scale}, {0}, 0} : graph::Quantization()};
}
graph::TensorType f32(Shape shape) { return type_of(DType::kF32, std::move(shape)); }

// One operator in a graph; operands without a shape of their own are absent.
template <typename Definition = Specified>
struct Trial {
  Definition definition;
  graph::Graph graph;
  TestAttrs attrs = {};

  std::string said(const std::vector<std::optional<graph::TensorType>>& operands,
                   const std::vector<graph::TensorType>& results, std::vector<Shape>* shapes = nullptr) {
    graph::Op op;
    op.definition = &definition;
    op.attributes = std::make_shared<TestAttrs>(attrs);
    auto add = [&](const graph::TensorType& type) {
      graph::Tensor tensor;
      tensor.name = "t";
      tensor.type = type;
      return graph.add_tensor(std::move(tensor));
    };
    for (const auto& type : operands) op.operands.push_back(type ? add(*type) : graph::TensorId{});
    for (const auto& type : results) op.results.push_back(add(type));
    Diagnostics diags;
    const auto found = definition.infer({graph, op}, diags);
    if (found && shapes != nullptr) *shapes = *found;
    if (found) (void)definition.verify({graph, op}, diags);
    return diags.str();
  }
};

Signature linear() {
  return {.name = "linear",
          .summary = "",
          .operands = {{.name = "x", .types = {{DType::kI8, "one scale"}, DType::kU8, DType::kF32}, .ranks = {1, 2}},
                       {.name = "weights", .same_type_as = 0, .constant = true},
                       {.name = "bias", .types = {DType::kF32}, .optional = true}},
          .results = {{.name = "y"}, {.name = "count", .types = {DType::kI32, DType::kI64}, .shape_of = -1}},
          .quantized = Quantized::kCopied,
          .uint8 = Uint8::kShifted,
          .attributes = make_attributes<TestAttrs>,
          .ranges = {axis_of<&TestAttrs::axis>("axis"), within<&TestAttrs::bits>("bits", 0, 7),
                     finite<&TestAttrs::scale>("scale")}};
}

TEST(Signature, ListsTheTypesOfItsPrincipalOperand) {
  const Specified definition(linear());
  const std::vector<TypeSupport> types = definition.types();
  ASSERT_EQ(types.size(), 3u);
  EXPECT_EQ(types[0].dtype, DType::kI8);
  EXPECT_EQ(types[0].note, "one scale");
  EXPECT_EQ(types[1].dtype, DType::kU8);
}

TEST(Signature, ChecksCountsRanksAndRanges) {
  const std::vector<graph::TensorType> results = {f32({2, 3}), type_of(DType::kI32, {})};
  auto said = [&](const std::vector<std::optional<graph::TensorType>>& operands, TestAttrs attrs = {}) {
    Trial<> trial{Specified(linear()), {}, attrs};
    return trial.said(operands, results);
  };
  const graph::TensorType x = f32({2, 3});
  EXPECT_THAT(said({x}), HasSubstr("linear takes 2 to 3 operands, the model gives 1 [op-operands]"));
  EXPECT_THAT(said({x, x, x, x}), HasSubstr("[op-operands]"));
  EXPECT_THAT(said({std::nullopt, x}), HasSubstr("[op-operands]"));
  EXPECT_THAT(said({f32({1, 2, 3}), x}), HasSubstr("operand 0 of linear has rank 3 (1x2x3), expected 1 to 2"));
  EXPECT_THAT(said({x, x}, with(&TestAttrs::axis, 2)),
              HasSubstr("axis 2 is outside a tensor of rank 2 [op-attribute]"));
  EXPECT_THAT(said({x, x}, with(&TestAttrs::axis, -1)), HasSubstr("axis -1 is outside"));
  EXPECT_THAT(said({x, x}, with(&TestAttrs::bits, 8)), HasSubstr("bits 8 is outside of 0..7 [op-attribute]"));
  EXPECT_THAT(said({x, x}, with(&TestAttrs::scale, INFINITY)), HasSubstr("scale of linear must be a finite number"));
  // All of that is in order; what is left is the weights.
  EXPECT_THAT(said({x, x}), HasSubstr("operand 1 of linear is not constant [op-operands]"));
}

TEST(Signature, ChecksTypesAndQuantisation) {
  Signature free = linear();
  free.operands[1].constant = false;
  auto said = [&](const std::vector<std::optional<graph::TensorType>>& operands,
                  const std::vector<graph::TensorType>& results) {
    Trial<> trial{Specified(free), {}};
    return trial.said(operands, results);
  };
  const graph::TensorType x = f32({2, 3}), count = type_of(DType::kI64, {});
  const graph::TensorType bytes = type_of(DType::kI8, {2, 3}, 0.5f), others = type_of(DType::kI8, {2, 3}, 0.25f);
  EXPECT_EQ(said({x, x}, {x, count}), "");
  EXPECT_EQ(said({x, x, std::nullopt}, {x, count}), "");
  EXPECT_EQ(said({x, x, x}, {x, count}), "");
  EXPECT_EQ(said({bytes, bytes}, {bytes, count}), "");
  const graph::TensorType unsigned_bytes = type_of(DType::kU8, {2, 3}, 0.5f);
  EXPECT_THAT(said({unsigned_bytes, unsigned_bytes}, {unsigned_bytes, count}), HasSubstr("supported: i8 or f32"));
  EXPECT_THAT(said({x, bytes}, {x, count}), HasSubstr("operand 1 ('t') of linear is i8; supported: f32"));
  EXPECT_THAT(said({x, x, bytes}, {x, count}), HasSubstr("operand 2"));
  EXPECT_THAT(said({x, x}, {bytes, count}), HasSubstr("result 0 of linear is i8, expected f32"));
  EXPECT_THAT(said({x, x}, {x, x}), HasSubstr("result 1 of linear is f32, expected i32 or i64"));
  EXPECT_THAT(said({bytes, bytes}, {others, count}), HasSubstr("[op-quantization]"));
}

TEST(Signature, RepeatsTheLastOperandAndResult) {
  const Signature sum = {.name = "sum_of",
                         .summary = "",
                         .operands = {{.name = "x", .types = {DType::kF32}}, {.name = "more", .same_type_as = 0}},
                         .results = {{.name = "y"}},
                         .most_operands = 3,
                         .any_results = true,
                         .shapes = Shapes::kEqual};
  auto said = [&](const std::vector<std::optional<graph::TensorType>>& operands, size_t results) {
    Trial<> trial{Specified(sum), {}};
    return trial.said(operands, std::vector<graph::TensorType>(results, f32({4})));
  };
  const graph::TensorType x = f32({4});
  EXPECT_EQ(said({x, x, x}, 1), "");
  EXPECT_EQ(said({x, x}, 3), "");
  EXPECT_THAT(said({x}, 1), HasSubstr("[op-operands]"));
  EXPECT_THAT(said({x, x, x, x}, 1), HasSubstr("[op-operands]"));
  EXPECT_THAT(said({x, x, std::nullopt}, 1), HasSubstr("operand 2 of sum_of is absent [op-operands]"));
  EXPECT_THAT(said({x, x}, 0), HasSubstr("[op-operands]"));
  EXPECT_THAT(said({x, f32({5})}, 1), HasSubstr("operand 1 has shape 5, operand 0 has 4 [op-shape]"));
  EXPECT_THAT(said({x, x, type_of(DType::kI32, {4})}, 1), HasSubstr("[op-type]"));
}

TEST(Signature, OperandsAndResultsInTheMiddleMayBeAbsent) {
  const Signature middle = {.name = "middle",
                            .summary = "",
                            .operands = {{.name = "x", .types = {DType::kF32}},
                                         {.name = "bias", .types = {DType::kI32}, .optional = true},
                                         {.name = "state", .same_type_as = 0}},
                            .results = {{.name = "y"},
                                        {.name = "index", .types = {DType::kI32}, .optional = true},
                                        {.name = "count", .types = {DType::kI64}}}};
  auto said = [&](const std::vector<std::optional<graph::TensorType>>& operands,
                  const std::vector<graph::TensorType>& results, const Signature& signature) {
    Trial<> trial{Specified(signature), {}};
    return trial.said(operands, results);
  };
  const graph::TensorType x = f32({4}), i32 = type_of(DType::kI32, {4}), i64 = type_of(DType::kI64, {4});
  EXPECT_EQ(said({x, i32, x}, {x, i32, i64}, middle), "");
  EXPECT_EQ(said({x, std::nullopt, x}, {x, i64}, middle), "");
  EXPECT_THAT(said({x, std::nullopt, std::nullopt}, {x, i64}, middle), HasSubstr("operand 2 of middle is absent"));
  EXPECT_THAT(said({x, i32}, {x, i64}, middle), HasSubstr("middle takes 3 operands, the model gives 2"));
  EXPECT_THAT(said({x, i32, x}, {x, i32}, middle), HasSubstr("result 1 of middle is i32, expected i64"));
  EXPECT_THAT(said({x, i32, x}, {x}, middle), HasSubstr("middle has 2 results, the model lists 1"));
  Signature listed = middle;
  listed.operands[2].optional = true;
  EXPECT_EQ(said({x}, {x, i64}, listed), "");
  listed.all_listed = true;
  EXPECT_THAT(said({x, i32}, {x, i64}, listed), HasSubstr("middle takes 3 operands, the model gives 2"));
  EXPECT_EQ(said({x, std::nullopt, std::nullopt}, {x, i64}, listed), "");
}

// Keeps the last `bits` rows, and a counter if `axis` is 1.
class Keeping final : public StatefulOperator {
 public:
  Keeping()
      : StatefulOperator({.name = "keeping",
                          .summary = "",
                          .operands = {{.name = "x", .types = {DType::kI8}, .ranks = {1, 1}}},
                          .results = {{.name = "y"}},
                          .attributes = make_attributes<TestAttrs>,
                          .ranges = {within<&TestAttrs::bits>("bits", 1, 7)}}) {}
  void evaluate(const OpView&, const EvalData&) const override {}
  Lowered lower(const OpView&, const TargetInfo&) const override { return {}; }

 protected:
  Result<std::vector<OperatorState>> kept(const OpView& op, Diagnostics&) const override {
    const auto& a = op.attrs<TestAttrs>();
    std::vector<OperatorState> out = {{{DType::kI8, {a.bits, op.operand(0).shape[0]}, {}}, {}, {}},
                                      {{DType::kI8, op.operand(0).shape, {}}, 0, {}}};
    if (a.axis == 1) out.push_back(OperatorState::counter(5));
    return out;
  }
};

TEST(Signature, OperandsAndResultsFollowFromKeptValues) {
  auto said = [&](const std::vector<graph::TensorType>& operands, const std::vector<graph::TensorType>& results,
                  TestAttrs attrs = {}) {
    return Trial<Keeping>{Keeping(), {}, attrs}.said({operands.begin(), operands.end()}, results);
  };
  const graph::TensorType x = type_of(DType::kI8, {4}, 0.5f), rows = type_of(DType::kI8, {3, 4}), count = f32({});
  const graph::TensorType counter = type_of(DType::kI32, {}), other = type_of(DType::kI8, {4}, 0.25f);
  EXPECT_EQ(said({x, rows, x}, {x, rows}), "");
  EXPECT_EQ(said({x, rows, x, counter}, {x, rows, counter}, with(&TestAttrs::axis, 1)), "");
  EXPECT_THAT(said({x, rows, x}, {x, rows, counter}, with(&TestAttrs::axis, 1)),
              HasSubstr("keeping takes 4 operands, the model gives 3"));
  EXPECT_THAT(said({x, rows, x, counter}, {x, rows, counter}), HasSubstr("keeping takes 3 operands"));
  EXPECT_THAT(said({x, rows, x}, {x}), HasSubstr("keeping has 2 results, the model lists 1"));
  EXPECT_THAT(said({x, x, x}, {x, rows}), HasSubstr("operand 1 does not have the shape of the state [op-shape]"));
  EXPECT_THAT(said({x, rows, x, count}, {x, rows, counter}, with(&TestAttrs::axis, 1)), HasSubstr("operand 3"));
  EXPECT_THAT(said({x, rows, other}, {x, rows}), HasSubstr("its operand 2 and result 0 are quantised differently"));
  EXPECT_THAT(said({x, rows, x}, {x, rows}, with(&TestAttrs::bits, 0)), HasSubstr("bits 0 is outside of 1..7"));
}

// Operands and results of these are those of their subgraphs, or of a C function.
TEST(Signature, OnlyTheseOperatorsHaveNone) {
  std::vector<std::string_view> without;
  for (const Operator* op : operators().all())
    if (dynamic_cast<const SpecifiedOperator*>(op) == nullptr) without.push_back(op->name());
  EXPECT_THAT(without, ElementsAre("external", "if", "while"));
}

TEST(Signature, InfersShapes) {
  std::vector<Shape> shapes;
  Trial<> linear_trial{Specified(linear()), {}};
  (void)linear_trial.said({f32({2, 3}), f32({7})}, {f32({2, 3}), type_of(DType::kI32, {})}, &shapes);
  EXPECT_EQ(shapes, (std::vector<Shape>{{2, 3}, {}}));
  const Signature broadcast = {.name = "wide",
                               .summary = "",
                               .operands = {{.name = "a"}, {.name = "b"}},
                               .results = {{.name = "y"}},
                               .shapes = Shapes::kBroadcast,
                               .quantized = Quantized::kOne};
  Trial<> wide{Specified(broadcast), {}};
  EXPECT_EQ(wide.said({f32({2, 1}), f32({3})}, {f32({2, 3})}, &shapes), "");
  EXPECT_EQ(shapes, (std::vector<Shape>{{2, 3}}));
  EXPECT_THAT(wide.said({f32({2}), f32({3})}, {f32({3})}), HasSubstr("shapes 2 and 3 do not broadcast [op-shape]"));
  const graph::TensorType bytes = type_of(DType::kI8, {2}, 0.5f), others = type_of(DType::kI8, {2}, 0.25f);
  EXPECT_THAT(wide.said({bytes, others}, {bytes}),
              HasSubstr("operand 1 of wide and its result are quantised differently"));
}

}  // namespace
}  // namespace signature_test
}  // namespace aotc::ops
