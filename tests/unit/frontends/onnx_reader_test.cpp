// SPDX-License-Identifier: Apache-2.0
// The ONNX reader on files made here: what becomes of the storage of tensors, shapes that are open,
// values that users give, versions, functions, branches, loops, and of what is damaged.
#include "frontends/onnx/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "frontends/onnx/values.h"
#include "onnx_builder.h"

namespace aotc {
namespace {

using namespace onnx_test;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Options = frontends::OnnxOptions;

std::string printed(const std::vector<uint8_t>& file, const Options& options = {}, const std::string& name = "m.onnx") {
  Diagnostics diags;
  auto graph = frontends::read_onnx(file, name, diags, options);
  EXPECT_EQ(graph.ok(), !diags.has_errors()) << diags.str();
  if (!graph) return diags.str();
  EXPECT_TRUE(ops::verify_graph(*graph, diags)) << diags.str();
  return graph::print(*graph, {.constants_limit = INT64_MAX, .locations = false});
}

std::string relu_of(const std::vector<int64_t>& shape) {
  return node("Relu", {"x"}, {"y"}) + input(value_info("x", shape)) + output(value_info("y", shape));
}

// x plus a constant of two elements.
std::vector<uint8_t> sum_with(const std::string& c, const std::string& name = "c") {
  return model(node("Add", {"x", name}, {"y"}) + constant(c) + input(value_info("x", {2})) +
               output(value_info("y", {2})));
}

TEST(OnnxReader, AModelIsKnownByItsContent) {
  EXPECT_TRUE(frontends::is_onnx_model(model(relu_of({2}))));
  EXPECT_FALSE(frontends::is_onnx_model({}));
  std::vector<uint8_t> flat = {0x1c, 0, 0, 0, 'T', 'F', 'L', '3'};
  EXPECT_FALSE(frontends::is_onnx_model(flat));
}

TEST(OnnxReader, OneOperator) {
  EXPECT_EQ(printed(model(relu_of({1, 3}))),
            "graph \"m\" {\n  input %0 \"x\" f32[1x3]\n  %1 \"y\" f32[1x3] = relu(%0)\n  output %1\n}\n");
}

TEST(OnnxReader, TensorsOfEveryStorage) {
  std::string want = "[1.5, -2]";
  EXPECT_THAT(printed(sum_with(tensor("c", {2}, 1, raw_floats({1.5f, -2.0f})))), HasSubstr(want));
  EXPECT_THAT(printed(sum_with(tensor("c", {2}, 1, real(4, 1.5f) + real(4, -2.0f)))), HasSubstr(want));
  std::string packed = raw_floats({1.5f, -2.0f});
  packed[0] = static_cast<char>(4 << 3 | 2);
  EXPECT_THAT(printed(sum_with(tensor("c", {2}, 1, packed))), HasSubstr(want));
}

TEST(OnnxReader, DataOfTheWrongSize) {
  EXPECT_THAT(printed(sum_with(tensor("c", {2}, 1, raw_floats({1.5f})))),
              HasSubstr("its shape needs 8 [onnx-invalid]"));
  EXPECT_THAT(printed(sum_with(tensor("c", {2}, 1, real(4, 1.5f)))),
              HasSubstr("does not have the 2 elements of the constant's shape [onnx-invalid]"));
  EXPECT_THAT(printed(sum_with(tensor("c", {int64_t{1} << 40}, 1, ""))), HasSubstr("[onnx-limit]"));
  EXPECT_THAT(printed(sum_with(tensor("c", {2}, 14, ""))),
              HasSubstr("a constant of type COMPLEX64 is not supported [onnx-type]"));
}

// A cast of a constant to f32: what the file's bytes are read as.
std::string cast_of(const std::string& c) {
  return printed(model(node("Cast", {"c"}, {"z"}, int_attribute("to", 1)) + node("Add", {"x", "z"}, {"y"}) +
                       constant(c) + input(value_info("x", {3})) + output(value_info("y", {3}))));
}

TEST(OnnxReader, FloatsOfOtherFormats) {
  auto raw = [](std::vector<uint8_t> v) { return bytes(9, std::string(v.begin(), v.end())); };
  EXPECT_THAT(cast_of(tensor("c", {3}, 10, raw({0, 0x3c, 1, 0, 0, 0xfc}))), HasSubstr("[1, 5.9604645e-08, -inf]"));
  EXPECT_THAT(cast_of(tensor("c", {3}, 16, raw({0x80, 0x3f, 0, 0xc0, 0, 0}))), HasSubstr("[1, -2, 0]"));
  EXPECT_THAT(cast_of(tensor("c", {3}, 17, raw({0x38, 0xfe, 0}))), HasSubstr("[1, -448, 0]"));
  EXPECT_THAT(cast_of(tensor("c", {3}, 23, raw({0x72, 0x0c}))), HasSubstr("[1, 6, -2]"));
  EXPECT_THAT(cast_of(tensor("c", {3}, 22, raw({0x8f, 0x07}))), HasSubstr("[-1, -8, 7]"));
  EXPECT_THAT(cast_of(tensor("c", {3}, 21, raw({0x8f, 0x07}))), HasSubstr("[15, 8, 7]"));
  EXPECT_THAT(cast_of(tensor("c", {3}, 22, raw({0x8f}))), HasSubstr("its shape needs 2 [onnx-invalid]"));
  EXPECT_THAT(cast_of(tensor("c", {3}, 11, raw(std::vector<uint8_t>(24)))), HasSubstr("[0, 0, 0]"));
}

TEST(OnnxReader, InputsOfOtherFormatsAreStoredAsTheyAre) {
  std::string text =
      printed(model(node("Relu", {"x"}, {"y"}) + input(value_info("x", {2}, 10)) + output(value_info("y", {2}, 10))));
  EXPECT_THAT(text, HasSubstr("input %0 \"x\" u16[2]"));
  EXPECT_THAT(text, HasSubstr("float_decode(%0)"));
  EXPECT_THAT(text, HasSubstr("float_round"));
  EXPECT_THAT(text, HasSubstr("\"y\" u16[2] = float_encode"));
}

TEST(OnnxReader, Float64IsSaidToBeComputedAsFloat32) {
  Diagnostics diags;
  ASSERT_TRUE(frontends::read_onnx(
      model(node("Relu", {"x"}, {"y"}) + input(value_info("x", {2}, 11)) + output(value_info("y", {2}, 11))), "m.onnx",
      diags));
  EXPECT_THAT(diags.str(), HasSubstr("float64 is computed as float32 [onnx-float64]"));
}

// What carries these would overflow elsewhere.
TEST(OnnxReader, ArithmeticOfFourBitsIsRefused) {
  EXPECT_THAT(
      printed(model(node("Abs", {"x"}, {"y"}) + input(value_info("x", {2}, 22)) + output(value_info("y", {2}, 22)))),
      HasSubstr("Abs is not supported for INT4 [onnx-type]"));
  EXPECT_THAT(
      printed(model(node("Neg", {"x"}, {"y"}) + input(value_info("x", {2}, 13)) + output(value_info("y", {2}, 13)))),
      HasSubstr("Neg is not supported for UINT64 [onnx-type]"));
}

TEST(OnnxReader, WhatHasNoElementsIsKnown) {
  std::string text =
      printed(model(node("ReduceMax", {"x"}, {"z"}, int_attribute("keepdims", 0)) + node("Add", {"z", "w"}, {"y"}) +
                    input(value_info("x", {0})) + input(value_info("w", {})) + output(value_info("y", {}))));
  EXPECT_THAT(text, HasSubstr("-inf"));
  EXPECT_THAT(printed(model(node("Relu", {"x"}, {"y"}) + input(value_info("x", {0})) + output(value_info("y", {0})))),
              HasSubstr("all outputs of the model are empty [onnx-empty]"));
}

// A folder with a model's data beside it.
class OnnxExternal : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("onnx_external_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_ / "in");
    for (const char* name : {"in/data.bin", "outside.bin"}) {
      std::ofstream out(folder_ / name, std::ios::binary);
      float values[] = {7.0f, 1.5f, -2.0f};
      out.write(reinterpret_cast<const char*>(values), sizeof values);
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string read(const std::string& location, const std::string& offset = "4", const std::string& length = "8") {
    auto entry = [](const std::string& key, const std::string& value) {
      return bytes(13, bytes(1, key) + bytes(2, value));
    };
    std::string data = entry("location", location) + entry("offset", offset) + entry("length", length) + number(14, 1);
    return printed(sum_with(tensor("c", {2}, 1, data)), {}, (folder_ / "in" / "m.onnx").string());
  }
  std::filesystem::path folder_;
};

TEST_F(OnnxExternal, IsReadBesideTheModel) {
  EXPECT_THAT(read("data.bin"), HasSubstr("[1.5, -2]"));
  EXPECT_THAT(read("data.bin", "8"), HasSubstr("beyond the end of 'data.bin', which has 12 bytes [onnx-external]"));
  EXPECT_THAT(read("data.bin", "18446744073709551615"), HasSubstr("[onnx-external]"));
  EXPECT_THAT(read("data.bin", "-1"), HasSubstr("[onnx-invalid]"));
  EXPECT_THAT(read("none.bin"), HasSubstr("'none.bin' does not exist [onnx-external]"));
}

TEST_F(OnnxExternal, NeverLeavesItsFolder) {
  EXPECT_THAT(read("../outside.bin"), HasSubstr("outside of the model's directory [onnx-external]"));
  EXPECT_THAT(read((folder_ / "outside.bin").string()), HasSubstr("[onnx-external]"));
  std::filesystem::create_symlink(folder_ / "outside.bin", folder_ / "in" / "link.bin");
  EXPECT_THAT(read("link.bin"), HasSubstr("a link to a file outside of the model's directory [onnx-external]"));
}

TEST(OnnxReader, OpenDimensions) {
  EXPECT_THAT(printed(model(relu_of({-1, 3}))), HasSubstr("f32[1x3]"));
  EXPECT_THAT(printed(model(relu_of({kMinusOne, 3}))), HasSubstr("f32[1x3]"));
  EXPECT_THAT(printed(model(relu_of({-2, 3}))), HasSubstr("f32[1x3]"));
  EXPECT_THAT(printed(model(relu_of({-2, 3})), {.dimensions = {{"d2", 4}}}), HasSubstr("f32[4x3]"));
  EXPECT_THAT(printed(model(relu_of({-2, 3})), {.shapes = {{"x", {5, 3}}}}), HasSubstr("f32[5x3]"));
  EXPECT_THAT(printed(model(relu_of({3})), {.dimensions = {{"d9", 4}}}),
              HasSubstr("no input has a dimension 'd9' [input-name]"));
  EXPECT_THAT(printed(model(relu_of({3})), {.shapes = {{"z", {3}}}}),
              HasSubstr("the model has no input 'z' [input-name]"));
}

TEST(OnnxReader, ANamedBatchIsReadAsOneWithANote) {
  Diagnostics diags;
  ASSERT_TRUE(frontends::read_onnx(model(relu_of({-2, 3})), "m.onnx", diags));
  EXPECT_EQ(
      diags.str(),
      "m.onnx: note: the first dimension of the inputs, 'd2', has no fixed size; aotc reads it as 1 [onnx-batch]\n"
      "  help: another size: --dim d2=N\n");
}

TEST(OnnxReader, OpenDimensionsHaveAProposalThatWorks) {
  EXPECT_THAT(printed(model(relu_of({3, -2}))),
              HasSubstr("dimension 1 ('d2') of the input has no fixed size [dynamic-shape]\n"
                        "  help: give a size; this one works: --dim d2=32\n"));
  // A name that is the first dimension and another one is no batch.
  EXPECT_THAT(printed(model(relu_of({-2, -2, -3}))), HasSubstr("this one works: --dim d2=32 --dim d3=32\n"));
  EXPECT_THAT(printed(model(relu_of({-2, -1}))), HasSubstr("this one works: --shape x=1,32\n"));
  EXPECT_THAT(printed(model(relu_of({-2, kMinusOne}))), HasSubstr("this one works: --shape x=1,32\n"));
  // 32 columns do not fit these weights, and 8 do; nothing fits weights of 7 rows and 3.
  auto product = [](int64_t rows) {
    return model(node("MatMul", {"x", "w"}, {"y"}) +
                 constant(tensor("w", {rows, 1}, 1, raw_floats(std::vector<float>(static_cast<size_t>(rows))))) +
                 input(value_info("x", {2, -2})) + output(value_info("y", {2, 1})));
  };
  EXPECT_THAT(printed(product(8)), HasSubstr("this one works: --dim d2=8\n"));
  EXPECT_THAT(printed(product(7)), HasSubstr("give a size for N: --dim d2=N\n"));
}

std::vector<uint8_t> sum_over_axes() {
  return model(node("ReduceSum", {"x", "axes"}, {"y"}, int_attribute("keepdims", 0)) + input(value_info("x", {2, 3})) +
                   input(value_info("axes", {1}, 7)) + output(value_info("y", {2})),
               13);
}

TEST(OnnxReader, ValuesThatUsersGive) {
  EXPECT_THAT(printed(sum_over_axes()),
              HasSubstr("its axes (input 1, 'axes') must be known at compile time [onnx-constant]"));
  std::string text = printed(sum_over_axes(), {.values = {{"axes", "[1]"}}});
  EXPECT_THAT(text, HasSubstr("f32[2] = sum(%0) {axes = [1]}"));
  EXPECT_THAT(text, Not(HasSubstr("\"axes\"")));
  EXPECT_THAT(printed(sum_over_axes(), {.values = {{"axes", "[1, 0]"}}}), HasSubstr("[value-invalid]"));
  EXPECT_THAT(printed(sum_over_axes(), {.values = {{"axes", "[-3]"}}}),
              HasSubstr("axis -3 is outside a tensor of rank 2"));
}

TEST(OnnxReader, TextsOfValues) {
  using frontends::onnx::parse_value;
  auto shape = [](const std::string& text, DType type = DType::kI64) {
    auto value = parse_value(text, type, std::nullopt);
    return value ? graph::to_string(value->type.shape) : std::string("none");
  };
  EXPECT_EQ(shape("3"), "scalar");
  EXPECT_EQ(shape("[1, 2]"), "2");
  EXPECT_EQ(shape("[[1.5], [2]]", DType::kF32), "2x1");
  EXPECT_EQ(shape("[]"), "0");
  for (const char* bad : {"", "[", "]", "[1,[2]]", "[[1],[2,3]]", "1.5", "x", "[1]2", "99999999999999999999"})
    EXPECT_EQ(shape(bad), "none") << bad;
  EXPECT_EQ(shape("300", DType::kU8), "none");
  EXPECT_EQ(shape("true", DType::kBool), "scalar");
}

TEST(OnnxReader, ShapeArithmeticIsConstant) {
  // Reshape to [Shape(x)[0], -1].
  auto file =
      model(node("Shape", {"x"}, {"s"}) + node("Gather", {"s", "zero"}, {"n"}) +
            node("Concat", {"n", "rest"}, {"to"}, int_attribute("axis", 0)) + node("Reshape", {"x", "to"}, {"y"}) +
            constant(tensor("zero", {1}, 7, longs({0}))) + constant(tensor("rest", {1}, 7, longs({-1}))) +
            input(value_info("x", {2, 3, 4})) + output(value_info("y", {2, 12})));
  EXPECT_EQ(printed(file),
            "graph \"m\" {\n  input %0 \"x\" f32[2x3x4]\n  %1 \"y\" f32[2x12] = reshape(%0) {shape "
            "= [2, 12]}\n  output %1\n}\n");
}

TEST(OnnxReader, ConstantsListedAsInputsAreConstants) {
  auto file = model(node("Add", {"x", "c"}, {"y"}) + constant(tensor("c", {2}, 1, raw_floats({1, 2}))) +
                    input(value_info("x", {2})) + input(value_info("c", {2})) + output(value_info("y", {2})));
  EXPECT_THAT(printed(file), HasSubstr("const %0 \"c\""));
  EXPECT_THAT(printed(file, {.values = {{"c", "[5, 6]"}}}), HasSubstr("[5, 6]"));
}

TEST(OnnxReader, DeclaredTypesAreChecked) {
  auto file = [](const std::vector<int64_t>& shape, int type) {
    return model(node("Relu", {"x"}, {"y"}) + input(value_info("x", {2})) + output(value_info("y", shape, type)));
  };
  Diagnostics diags;
  EXPECT_TRUE(frontends::read_onnx(file({3}, 1), "m.onnx", diags));
  EXPECT_THAT(diags.str(),
              HasSubstr("warning: the file declares shape 3 for this output, but the operators give 2 [onnx-shape]"));
  EXPECT_THAT(printed(file({2}, 7)),
              HasSubstr("the file declares this output as INT64, but the operators give FLOAT [onnx-shape]"));
  EXPECT_THAT(printed(file({-1}, 1)), HasSubstr("relu"));
}

TEST(OnnxReader, UnknownOperatorsAreToldAtOnce) {
  auto file =
      model(node("Relu", {"x"}, {"a"}) + node("Fancy", {"a"}, {"b"}) + node("Neat", {"b"}, {"c"}, "", "my.own") +
            node("Add", {"b", "c"}, {"y"}) + input(value_info("x", {2})) + output(value_info("y", {2})));
  EXPECT_THAT(printed(file), HasSubstr("2 of the model's operators are not supported: Fancy (ai.onnx 17), "
                                       "Neat (my.own, not imported) [op-unsupported]"));
}

TEST(OnnxReader, Versions) {
  EXPECT_THAT(printed(model(relu_of({2}), 6)), HasSubstr("operator set 6; aotc reads 7 and newer [onnx-version]"));
  // Softmax made rows of everything from its axis on before 13.
  auto softmax = [](int version) {
    return model(node("Softmax", {"x"}, {"y"}) + input(value_info("x", {2, 3, 4})) + output(value_info("y", {2, 3, 4})),
                 version);
  };
  EXPECT_THAT(printed(softmax(11)), HasSubstr("f32[2x12] = softmax"));
  EXPECT_THAT(printed(softmax(13)), HasSubstr("f32[2x3x4] = softmax"));
}

TEST(OnnxReader, ActivationsOfARecurrentLayerAreAsManyAsItTakes) {
  auto layer = [](const std::vector<std::string>& names) {
    std::string list = bytes(1, "activations") + number(20, 8);
    for (const std::string& n : names) list += bytes(9, n);
    return model(node("RNN", {"x", "w", "r"}, {"y"},
                      int_attribute("hidden_size", 1) + bytes(5, list) +
                          bytes(5, bytes(1, "direction") + bytes(4, "bidirectional") + number(20, 3))) +
                 constant(tensor("w", {2, 1, 1}, 1, raw_floats({0.5f, 0.25f}))) +
                 constant(tensor("r", {2, 1, 1}, 1, raw_floats({0.5f, 0.25f}))) + input(value_info("x", {2, 1, 1})) +
                 output(value_info("y", {2, 2, 1, 1})));
  };
  EXPECT_THAT(printed(layer({"Tanh", "Relu"})), HasSubstr("relu("));
  for (const std::vector<std::string>& names : {std::vector<std::string>{"Relu"}, {"Tanh", "Relu", "Relu"}})
    EXPECT_THAT(printed(layer(names)), HasSubstr(std::to_string(names.size()) + " activations, but its gates need 2"));
}

TEST(OnnxReader, FunctionsOfTheModel) {
  std::string body = bytes(1, "Twice") + bytes(4, "a") + bytes(5, "b") +
                     bytes(7, node("Add", {"a", "a"}, {"b"}).substr(2)) + bytes(9, bytes(1, "") + number(2, 17)) +
                     bytes(10, "my.own");
  std::string graph =
      node("Twice", {"x"}, {"y"}, "", "my.own") + input(value_info("x", {2})) + output(value_info("y", {2}));
  EXPECT_THAT(printed(model(graph, 17, bytes(25, body))), HasSubstr("add(%0, %0)"));
  std::string loop = bytes(1, "Twice") + bytes(4, "a") + bytes(5, "b") +
                     bytes(7, node("Twice", {"a"}, {"b"}, "", "my.own").substr(2)) + bytes(10, "my.own");
  EXPECT_THAT(printed(model(graph, 17, bytes(25, loop))),
              HasSubstr("function calls are recursive, or nested more than 16 deep [onnx-limit]"));
}

// An If between operators of these types, both of the same operand.
std::vector<uint8_t> branches(const char* then_type, const char* else_type, const char* operand = "x") {
  auto branch = [&](const char* attribute, const char* type) {
    return bytes(5, bytes(1, attribute) +
                        bytes(6, node(type, {operand}, {std::string("r") + type}) +
                                     bytes(12, bytes(1, std::string("r") + type))) +
                        number(20, 5));
  };
  return model(node("If", {"c"}, {"y"}, branch("then_branch", then_type) + branch("else_branch", else_type)) +
               input(value_info("x", {2})) + input(value_info("c", {}, 9)) + output(value_info("y", {2})));
}

TEST(OnnxReader, BranchesWhoseConditionIsKnown) {
  EXPECT_THAT(printed(branches("Relu", "Tanh"), {.values = {{"c", "true"}}}), HasSubstr("relu(%0)"));
  EXPECT_THAT(printed(branches("Relu", "Tanh"), {.values = {{"c", "false"}}}), HasSubstr("tanh(%0)"));
  EXPECT_THAT(printed(branches("Relu", "Flatten"), {.values = {{"c", "true"}}}), HasSubstr("relu(%0)"));
}

TEST(OnnxReader, AnInputThatDecidesABranchIsNamed) {
  // As Silero VAD has it: by the rate of samples a branch of which one does not fit.
  auto branch = [&](const char* attribute, const char* weights) {
    return bytes(5, bytes(1, attribute) +
                        bytes(6, node("MatMul", {"x", weights}, {std::string("r") + weights}) +
                                     bytes(12, bytes(1, std::string("r") + weights))) +
                        number(20, 5));
  };
  auto weights = [](const char* name, int64_t rows) {
    return constant(tensor(name, {rows, 1}, 1, raw_floats(std::vector<float>(static_cast<size_t>(rows), 1.0f))));
  };
  const auto file =
      model(node("Equal", {"sr", "rate"}, {"c"}) +
            node("If", {"c"}, {"y"}, branch("then_branch", "wide") + branch("else_branch", "narrow")) +
            constant(tensor("rate", {}, 7, longs({16000}))) + weights("wide", 4) + weights("narrow", 2) +
            input(value_info("x", {1, 4})) + input(value_info("sr", {}, 7)) + output(value_info("y", {1, 1})));
  const std::string text = printed(file);
  EXPECT_THAT(text, HasSubstr("op 1 If 'y': error: input 'sr' decides which branch runs, but aotc cannot compile both "
                              "branches [onnx-constant]\n"
                              "  note: m.onnx: op 1 MatMul 'rnarrow': "));
  EXPECT_THAT(
      text, HasSubstr("  help: give the value of this input, so that only one branch is compiled: --value sr=16000\n"));
  EXPECT_THAT(printed(file, {.values = {{"sr", "16000"}}}), ::testing::Not(HasSubstr("= if(")));
}

TEST(OnnxReader, ValuesAreAdvisedForInputsOnly) {
  auto reshape = [](const std::vector<int64_t>& shape) {
    return model(node("Add", {"to", "to"}, {"twice"}) + node("Reshape", {"x", "twice"}, {"y"}) +
                 input(value_info("x", {2, 3})) + input(value_info("to", shape, 7)) + output(value_info("y", {6})));
  };
  EXPECT_THAT(printed(reshape({1})), HasSubstr("help: give the value of input 'to': --value to=[...]\n"));
  EXPECT_THAT(
      printed(reshape({99})),
      HasSubstr("help: the model computes this value from input 'to': export the model with a constant instead\n"));
}

TEST(OnnxReader, LargeConstantsAreComputedWhereTheyMustBeKnown) {
  // Each of them grows by more than what is computed in any case.
  const auto file = model(
      node("Expand", {"c", "s"}, {"e"}) + node("Neg", {"e"}, {"n"}) + node("ReduceMin", {"n"}, {"m"}) +
      node("Abs", {"m"}, {"a"}) + node("Reshape", {"a", "one"}, {"to"}) + node("Reshape", {"x", "to"}, {"y"}) +
      constant(tensor("one", {1}, 7, longs({1}))) + constant(tensor("c", {1}, 7, longs({6}))) +
      constant(tensor("s", {2}, 7, longs({64, 64}))) + input(value_info("x", {2, 3})) + output(value_info("y", {-1})));
  EXPECT_THAT(printed(file), HasSubstr("f32[6] = reshape(%0)"));
}

TEST(OnnxReader, BranchesWhoseConditionIsComputed) {
  std::string text = printed(branches("Relu", "Tanh"));
  EXPECT_THAT(text, HasSubstr("%2 \"y\" f32[2] = if(%1, %0)"));
  EXPECT_THAT(text, HasSubstr("relu(%0)"));
  EXPECT_THAT(text, HasSubstr("tanh(%0)"));
  EXPECT_THAT(printed(branches("Relu", "Flatten")),
              HasSubstr("output 0 is FLOAT 2 in one branch and FLOAT 2x1 in the other [onnx-shape]"));
  EXPECT_THAT(printed(branches("Relu", "Tanh", "z")),
              HasSubstr("input 'z' is not defined before this operator [onnx-invalid]"));
  std::string unknown = printed(branches("Nothing", "Nowhere"));
  EXPECT_THAT(unknown, HasSubstr("2 of the model's operators are not supported: Nothing (ai.onnx"));
}

// `y` of x: doubled as long as its sum is below 9, `next` is what the body makes of it; `rows` collects it.
std::string doubling(const std::string& most, const std::string& next, bool rows, const std::string& behind = "") {
  std::string limit = constant(tensor("nine", {}, 1, raw_floats({9.0f})));
  std::string body = node("Add", {"s", "s"}, {"t"}) + node("Flatten", {"t"}, {"f"}) +
                     node("ReduceSum", {"t"}, {"r"}, int_attribute("keepdims", 0)) +
                     node("Less", {"r", "nine"}, {"go"}) + limit + input(value_info("i", {}, 7)) +
                     input(value_info("c", {}, 9)) + input(value_info("s", {2})) + output(bytes(1, "go")) +
                     output(bytes(1, next)) + (rows ? output(bytes(1, "r")) : "");
  std::vector<std::string> results = {"y"};
  if (rows) results.push_back("z");
  return node("Loop", {most, "", "x"}, results, bytes(5, bytes(1, "body") + bytes(6, body) + number(20, 5))) + behind +
         input(value_info("x", {2})) + constant(tensor("five", {}, 7, longs({5}))) + output(bytes(1, "y"));
}

TEST(OnnxReader, ConditionsThatAreComputed) {
  std::string text = printed(model(doubling("", "t", false)));
  EXPECT_THAT(text, HasSubstr("= while("));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("less(%0")));  // no limit: it goes on as the body says
  text = printed(model(doubling("five", "t", true) + output(bytes(1, "z"))));
  EXPECT_THAT(text, HasSubstr("%7 \"z\" f32[5] = while("));
  EXPECT_THAT(text, HasSubstr("\"z_count\" i32[1] = "));
  EXPECT_THAT(text, HasSubstr("  output %7\n  output %9\n}"));
}

TEST(OnnxReader, WhatHasNoBoundIsRefused) {
  const std::string why = "scan output 1 needs a constant maximum trip count [onnx-constant]";
  EXPECT_THAT(printed(model(doubling("", "t", true) + output(bytes(1, "z")))), HasSubstr(why));
  std::string given = doubling("n", "t", true) + input(value_info("n", {}, 7)) + output(bytes(1, "z"));
  EXPECT_THAT(printed(model(given)), HasSubstr(why));
  EXPECT_THAT(printed(model(given), {.values = {{"n", "4"}}}), HasSubstr("f32[4]"));
}

TEST(OnnxReader, ShapesStayFromTurnToTurn) {
  EXPECT_THAT(printed(model(doubling("five", "f", false))),
              HasSubstr("loop variable 0 is FLOAT 2 at first, but FLOAT 2x1 after an iteration [onnx-shape]"));
}

TEST(OnnxReader, WhatReadsAllRowsIsRefused) {
  auto with = [](const std::string& behind) {
    return printed(model(doubling("five", "t", true, behind) + output(bytes(1, "w"))));
  };
  EXPECT_THAT(with(node("Neg", {"z"}, {"w"})), HasSubstr("\"w_count\""));
  EXPECT_THAT(
      with(node("ReduceSum", {"z"}, {"w"})),
      HasSubstr("the operator reads 'z', whose number of elements is known only when the model runs [op-unsupported]"));
  EXPECT_THAT(with(node("Shape", {"z"}, {"w"})), HasSubstr("the operator reads 'z', whose"));
  std::string inner = node("Identity", {"z"}, {"v"}) + output(bytes(1, "v"));
  auto branch = [&](const char* name) { return bytes(5, bytes(1, name) + bytes(6, inner) + number(20, 5)); };
  EXPECT_THAT(printed(model(
                  doubling("five", "t", true, node("If", {"b"}, {"w"}, branch("then_branch") + branch("else_branch"))) +
                  input(value_info("b", {}, 9)) + output(bytes(1, "w")))),
              HasSubstr("the operator reads 'z', whose"));
}

TEST(OnnxReader, CountsDoNotLeaveBranches) {
  std::string inner = node("NonZero", {"x"}, {"v"}) + output(bytes(1, "v"));
  auto branch = [&](const char* name) { return bytes(5, bytes(1, name) + bytes(6, inner) + number(20, 5)); };
  EXPECT_THAT(printed(model(node("If", {"b"}, {"y"}, branch("then_branch") + branch("else_branch")) +
                            input(value_info("x", {2})) + input(value_info("b", {}, 9)) + output(bytes(1, "y")))),
              HasSubstr("the operator reads 'v', whose number of elements is known only when the model runs"));
}

TEST(OnnxReader, LabelsThatAreStrings) {
  auto list = [](const std::string& name, const std::vector<std::string>& strings) {
    std::string all;
    for (const std::string& s : strings) all += bytes(9, s);
    return bytes(5, bytes(1, name) + all + number(20, 8));
  };
  std::string keys = bytes(5, bytes(1, "keys_int64s") + number(8, 4) + number(8, 9) + number(20, 7));
  auto encoder = [&](const std::string& attributes) {
    return printed(model(node("LabelEncoder", {"x"}, {"y"}, attributes, "ai.onnx.ml") + input(value_info("x", {2}, 7)) +
                             output(value_info("y", {2}, 8)),
                         17, bytes(8, bytes(1, "ai.onnx.ml") + number(2, 3))));
  };
  EXPECT_THAT(encoder(keys + list("values_strings", {"b", "a"})), HasSubstr("= [0, 1, 2]"));
  EXPECT_THAT(encoder(list("keys_strings", {"p", "q"}) + list("values_strings", {"b", "a"})),
              HasSubstr("keys must be numbers, not strings [onnx-type]"));
  EXPECT_THAT(encoder(keys + list("values_strings", {"b"})),
              HasSubstr("the operator has 2 keys but 1 values [onnx-attribute]"));
}

// A layer between DequantizeLinear and QuantizeLinear, whose bias is float.
std::vector<uint8_t> biased_layer(float bias) {
  auto raw = [](const char* text, size_t size) { return bytes(9, std::string(text, size)); };
  return model(node("DequantizeLinear", {"x", "s", "z"}, {"r"}) + node("DequantizeLinear", {"w", "t"}, {"f"}) +
               node("Gemm", {"r", "f", "b"}, {"c"}, int_attribute("transB", 1)) +
               node("QuantizeLinear", {"c", "s", "z"}, {"y"}) + constant(tensor("s", {}, 1, raw_floats({0.5f}))) +
               constant(tensor("z", {}, 3, raw("\0", 1))) + constant(tensor("w", {1, 2}, 3, raw("\1\2", 2))) +
               constant(tensor("t", {}, 1, raw_floats({0.25f}))) + constant(tensor("b", {1}, 1, raw_floats({bias}))) +
               input(value_info("x", {1, 2}, 3)) + output(value_info("y", {1, 1}, 3)));
}

TEST(OnnxReader, FloatBiasesBecomeIntegersWhereTheyFit) {
  // 0.3125 is 2.5 steps: a tie, which goes to the even number.
  EXPECT_THAT(printed(biased_layer(0.3125f)), AllOf(HasSubstr("i32[1]"), HasSubstr("[2]"), Not(HasSubstr("f32["))));
  Diagnostics diags;
  auto graph = frontends::read_onnx(biased_layer(1e9f), "m.onnx", diags);
  ASSERT_TRUE(graph) << diags.str();
  EXPECT_THAT(diags.str(), HasSubstr("the bias of channel 0 is 1000000000, which is beyond int32 in steps of 0.125"));
  EXPECT_THAT(diags.str(), HasSubstr("[onnx-bias]"));
  EXPECT_THAT(graph::print(*graph, {}), HasSubstr("f32["));
}

TEST(OnnxReader, InputsAreFedAsPicturesOnRequest) {
  auto file = model(relu_of({1, 3, 4, 5}));
  EXPECT_THAT(printed(file, {.images_last = true}), HasSubstr("input %0 \"x\" f32[1x4x5x3]"));
  EXPECT_THAT(printed(file), HasSubstr("input %0 \"x\" f32[1x3x4x5]"));
  EXPECT_THAT(printed(model(relu_of({3, 4, 5})), {.images_last = true}), HasSubstr("input %0 \"x\" f32[3x5x4]"));
  EXPECT_THAT(printed(model(relu_of({4, 5})), {.images_last = true}),
              HasSubstr("no input has three or four dimensions [input-name]"));
}

TEST(OnnxReader, Damage) {
  EXPECT_THAT(printed({}), HasSubstr("the file has no graph [onnx-invalid]"));
  auto file = model(relu_of({2}));
  file.resize(file.size() - 1);
  EXPECT_THAT(printed(file), HasSubstr("[onnx-invalid]"));
  EXPECT_THAT(printed(model(node("Relu", {"z"}, {"y"}) + input(value_info("x", {2})) + output(value_info("y", {2})))),
              HasSubstr("input 'z' is not defined before this operator [onnx-invalid]"));
  EXPECT_THAT(printed(model(relu_of({2}) + node("Relu", {"x"}, {"y"}))),
              HasSubstr("'y' is defined twice [onnx-invalid]"));
  EXPECT_THAT(printed(model(node("Relu", {}, {"y"}) + output(value_info("y", {2})))),
              HasSubstr("input 0 is missing [onnx-invalid]"));
}

TEST(OnnxReader, GraphsInGraphsEnd) {
  std::string inner = node("Relu", {"x"}, {"y"});
  for (int i = 0; i < 40; ++i) inner = node("If", {"c"}, {"y"}, bytes(5, bytes(1, "then_branch") + bytes(6, inner)));
  EXPECT_THAT(printed(model(inner)), HasSubstr("nests them too deeply [onnx-limit]"));
}

}  // namespace
}  // namespace aotc
