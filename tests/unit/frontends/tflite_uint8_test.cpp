// SPDX-License-Identifier: Apache-2.0
// uint8 models: where int8 stands in the place of uint8, and where the two are converted.
#include <gtest/gtest.h>

#include "frontends/tflite/reader.h"
#include "tflite_builder.h"

namespace aotc {
namespace uint8_models {
namespace {

using testing::TestModel;
namespace schema = tflite_schema;

constexpr int kAdd = 0, kMaximum = 55, kL2Normalization = 11;

testing::TestTensor bytes(const std::string& name) {
  return {.name = name, .shape = {1, 4}, .type = schema::TensorType_UINT8, .scale = {0.0078125f}, .zero_point = {128}};
}

// One operator behind the other; ADD and MAXIMUM of a tensor with itself.
TestModel row_of(const std::vector<int>& builtins) {
  TestModel m;
  m.tensors = {bytes("in")};
  for (size_t i = 0; i < builtins.size(); ++i) {
    m.tensors.push_back(bytes("t" + std::to_string(i)));
    m.codes.push_back({builtins[i]});
    const int from = static_cast<int>(i);
    m.ops.push_back(
        {.code = static_cast<uint32_t>(i),
         .in = builtins[i] == kAdd || builtins[i] == kMaximum ? std::vector<int>{from, from} : std::vector<int>{from},
         .out = {from + 1}});
  }
  m.inputs = {0};
  m.outputs = {static_cast<int>(builtins.size())};
  return m;
}

std::string operators_of(const TestModel& m) {
  Diagnostics diags;
  auto graph = frontends::read_tflite(m.bytes(), "m.tflite", diags);
  EXPECT_TRUE(graph.ok()) << diags.str();
  std::string out;
  if (!graph) return out;
  for (const graph::Op& op : graph->ops)
    out += std::string(op.name()) + " '" + (*graph)[op.results[0]].name + "' " +
           std::string(name_of((*graph)[op.results[0]].type.dtype)) + "\n";
  return out;
}

TEST(TfliteUint8, BetweenOperatorsNothingIsConverted) {
  EXPECT_EQ(operators_of(row_of({kAdd, kMaximum, kAdd})),
            "quantize 'in (int8)' i8\n"
            "add 't0 (int8)' i8\n"
            "maximum 't1 (int8)' i8\n"
            "add 't2 (int8)' i8\n"
            "quantize 't2' u8\n");
}

TEST(TfliteUint8, WhatTakesUint8ItselfStaysWhereNothingElseIs) {
  EXPECT_EQ(operators_of(row_of({kMaximum})), "maximum 't0' u8\n");
}

TEST(TfliteUint8, OperatorsWithArithmeticOfTheirOwnGetUint8) {
  EXPECT_EQ(operators_of(row_of({kAdd, kL2Normalization, kAdd})),
            "quantize 'in (int8)' i8\n"
            "add 't0 (int8)' i8\n"
            "quantize 't0' u8\n"
            "l2_normalization 't1' u8\n"
            "quantize 't1 (int8)' i8\n"
            "add 't2 (int8)' i8\n"
            "quantize 't2' u8\n");
}

TEST(TfliteUint8, ZeroPointsAreLower) {
  TestModel m = row_of({kAdd});
  m.tensors[0].zero_point = {3};
  Diagnostics diags;
  auto graph = frontends::read_tflite(m.bytes(), "m.tflite", diags);
  ASSERT_TRUE(graph.ok()) << diags.str();
  EXPECT_EQ((*graph)[graph->ops[0].results[0]].type.zero_point(), -125);
}

TEST(TfliteUint8, ConstantsFlipTheTopBit) {
  TestModel m = row_of({kAdd});
  m.tensors.push_back(bytes("c"));
  m.tensors.back().data = {0, 127, 128, 255};
  m.ops[0].in = {0, 2};
  Diagnostics diags;
  auto graph = frontends::read_tflite(m.bytes(), "m.tflite", diags);
  ASSERT_TRUE(graph.ok()) << diags.str();
  const graph::Tensor& constant = (*graph)[graph->ops[1].operands[1]];
  EXPECT_EQ(constant.constant->to_vector<int8_t>(), (std::vector<int8_t>{-128, -1, 0, 127}));
}

}  // namespace
}  // namespace uint8_models
}  // namespace aotc
