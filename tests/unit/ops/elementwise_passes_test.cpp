// SPDX-License-Identifier: Apache-2.0
// What the graph passes make of elementwise operators as they are: activations fuse into producers,
// conversions that cancel and casts that change nothing go. Each graph computes the same before and
// after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "ops/operator.h"
#include "passes/pipeline.h"

namespace aotc::passes {
namespace {

using testing::ElementsAre;

using Bytes = std::vector<uint8_t>;

std::vector<Bytes> outputs_of(const graph::Graph& graph, const std::vector<Bytes>& inputs) {
  auto values = ops::evaluate_graph(graph, inputs);
  std::vector<Bytes> out;
  for (const graph::Port& port : graph.outputs) {
    // An output may be an input that every operator in between was an identity of.
    size_t i = 0;
    while (i < graph.inputs.size() && graph.inputs[i].tensor != port.tensor) ++i;
    out.push_back(i < inputs.size() ? inputs[i] : values[static_cast<size_t>(port.tensor.value)]);
  }
  return out;
}

// Names and attributes of the operators that all passes leave of `text`.
std::vector<std::string> after_passes(const std::string& text) {
  Diagnostics diags;
  auto before = graph::parse(text, "test", ops::definition_lookup(), diags);
  EXPECT_TRUE(before && ops::verify_graph(*before, diags)) << diags.str();
  if (!before) return {};
  graph::Graph graph = *before;
  RunOptions options;
  options.verify_each = true;
  EXPECT_TRUE(run_passes(graph, pipeline(), options, diags)) << diags.str();
  std::mt19937 random(5);
  std::vector<Bytes> inputs;
  for (const graph::Port& port : before->inputs) {
    const graph::TensorType& type = (*before)[port.tensor].type;
    Bytes bytes(static_cast<size_t>(type.bytes()));
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
    // Small positive and negative floats: any high byte of 0x3f, 0x40, 0xbf or 0xc0.
    if (type.dtype == DType::kF32)
      for (size_t i = 3; i < bytes.size(); i += 4) bytes[i] = "\x3f\x40\xbf\xc0"[random() % 4] & 0xff;
    inputs.push_back(std::move(bytes));
  }
  EXPECT_EQ(outputs_of(*before, inputs), outputs_of(graph, inputs));
  std::vector<std::string> out;
  for (const graph::Op& op : graph.ops) {
    std::string line(op.name());
    for (auto& [name, value] : op.attributes->print()) line += " " + name + "=" + value;
    out.push_back(line);
  }
  return out;
}

TEST(ElementwisePasses, FuseFloatActivations) {
  for (const char* name : {"relu", "relu6", "relu_n1_to_1"})
    EXPECT_THAT(after_passes(R"(graph "g" {
  input %0 "x" f32[2x3]
  input %1 "y" f32[3]
  %2 "s" f32[2x3] = add(%0, %1)
  %3 "r" f32[2x3] = )" + std::string(name) +
                             "(%2)\n  output %3\n}\n"),
                ElementsAre("add activation=" + std::string(name) + " shift_only=false rounding=litert"));
}

TEST(ElementwisePasses, FuseInt8ActivationsOfOneQuantisation) {
  EXPECT_THAT(after_passes(R"(graph "g" {
  input %0 "x" i8[40] quant(0.05, -3)
  input %1 "y" i8[40] quant(0.02, 7)
  %2 "s" i8[40] quant(0.04, -20) = mul(%0, %1)
  %3 "r" i8[40] quant(0.04, -20) = relu6(%2)
  output %3
}
)"),
              ElementsAre("mul activation=relu6 shift_only=false rounding=litert"));
}

TEST(ElementwisePasses, KeepInt8ActivationsThatRescale) {
  EXPECT_THAT(after_passes(R"(graph "g" {
  input %0 "x" i8[40] quant(0.05, -3)
  input %1 "y" i8[40] quant(0.02, 7)
  %2 "s" i8[40] quant(0.04, -20) = sub(%0, %1)
  %3 "r" i8[40] quant(0.02, -128) = relu(%2)
  output %3
}
)"),
              ElementsAre("sub activation=none shift_only=false rounding=litert", "relu"));
}

TEST(ElementwisePasses, DropConversionsThatCancel) {
  EXPECT_THAT(after_passes(R"(graph "g" {
  input %0 "x" i8[40] quant(0.05, -3)
  %1 "f" f32[40] = dequantize(%0)
  %2 "q" i8[40] quant(0.05, -3) = quantize(%1)
  %3 "h" i8[40] quant(0.05, -3) = hard_swish(%2)
  output %3
}
)"),
              ElementsAre("hard_swish"));
  EXPECT_THAT(after_passes(R"(graph "g" {
  input %0 "x" u8[40] quant(0.05, 125)
  %1 "q" i8[40] quant(0.05, -3) = quantize(%0)
  %2 "b" u8[40] quant(0.05, 125) = quantize(%1)
  %3 "c" u8[40] quant(0.05, 125) = cast(%2)
  %4 "d" f32[40] = dequantize(%3)
  output %4
}
)"),
              ElementsAre("dequantize"));
}

TEST(ElementwisePasses, KeepConversionsThatRound) {
  EXPECT_THAT(after_passes(R"(graph "g" {
  input %0 "x" i16[40] quant(0.05, 0)
  %1 "q" i16[40] quant(0.5, 0) = quantize(%0)
  %2 "b" i16[40] quant(0.05, 0) = quantize(%1)
  output %2
}
)"),
              ElementsAre("quantize rounding=litert", "quantize rounding=litert"));
  // Of bytes, they are part of a table.
  EXPECT_THAT(after_passes(R"(graph "g" {
  input %0 "x" i8[40] quant(0.05, -3)
  %1 "q" i8[40] quant(0.5, 0) = quantize(%0)
  %2 "b" i8[40] quant(0.05, -3) = quantize(%1)
  %3 "t" i8[40] quant(0.0078125, 0) = tanh(%2)
  output %3
}
)"),
              ElementsAre("byte_table"));
}

}  // namespace
}  // namespace aotc::passes
