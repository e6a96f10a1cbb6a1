// SPDX-License-Identifier: Apache-2.0
// The TFLite reader on small files made here, with operators of its own so that the exact text of
// messages does not depend on which operators this build has.
#include "frontends/tflite/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "frontends/tflite/builtin_names.h"
#include "frontends/tflite/rules.h"
#include "support/files.h"
#include "tflite_builder.h"

namespace aotc {
namespace tflite_reader_test {
namespace {

using frontends::read_tflite;
using frontends::ReadOptions;
using testing::TestModel;
using testing::TestTensor;
namespace schema = tflite_schema;

constexpr int kAdd = 0;
constexpr int kSoftmax = 25;
constexpr int kCustom = 32;
constexpr int kUnknown = 15;

struct BetaAttrs : graph::Attributes<BetaAttrs> {
  float beta = 0.0f;
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("beta", self.beta);
  }
};

// A unary or binary operator whose result has the shape of operand 0.
class SameShape : public ops::Operator {
 public:
  explicit SameShape(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override { return std::make_shared<BetaAttrs>(); }
  std::string_view summary() const override { return "for tests"; }
  std::vector<ops::TypeSupport> types() const override { return {}; }
  Status verify(const ops::OpView&, Diagnostics&) const override { return success(); }
  Result<std::vector<graph::Shape>> infer(const ops::OpView& op, Diagnostics&) const override {
    if (!op.has_operand(0)) return kFailure;
    return std::vector<graph::Shape>{op.operand(0).shape};
  }
  void evaluate(const ops::OpView&, const ops::EvalData&) const override {}
  ops::Lowered lower(const ops::OpView&, const ops::TargetInfo&) const override { return {}; }

 private:
  std::string name_;
};

Status import_beta(const frontends::TfliteOp& from, graph::Op& op, Diagnostics&) {
  auto attributes = std::make_shared<BetaAttrs>();
  if (const auto* o = from.options<schema::SoftmaxOptions>()) attributes->beta = o->beta();
  op.attributes = attributes;
  return success();
}

const frontends::tflite::RuleTable& test_rules() {
  static const frontends::tflite::RuleTable table = [] {
    frontends::tflite::RuleTable made;
    made.add({"ADD", "add", import_beta});
    made.add({"SOFTMAX", "softmax", import_beta});
    return made;
  }();
  return table;
}

const ops::OperatorSet& test_operators() {
  static const ops::OperatorSet set = [] {
    ops::OperatorSet made;
    made.add(std::make_unique<SameShape>("add"));
    made.add(std::make_unique<SameShape>("softmax"));
    return made;
  }();
  return set;
}

template <typename T>
std::vector<uint8_t> raw_bytes(const std::vector<T>& values) {
  std::vector<uint8_t> out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

// in[1x4] + weights[4] -> sum -> softmax -> out.
TestModel small_model() {
  TestModel m;
  m.tensors = {
      {.name = "in", .shape = {1, 4}},
      {.name = "w", .shape = {4}, .data = raw_bytes<float>({1, 2, 3, 4})},
      {.name = "sum", .shape = {1, 4}},
      {.name = "out", .shape = {1, 4}},
  };
  m.codes = {{kAdd}, {kSoftmax}};
  m.ops = {
      {.code = 0, .in = {0, 1}, .out = {2}},
      {.code = 1,
       .in = {2},
       .out = {3},
       .options_type = schema::BuiltinOptions_SoftmaxOptions,
       .options = [](testing::FlatBufferBuilder& fbb) { return schema::CreateSoftmaxOptions(fbb, 1.5f).Union(); }}};
  m.inputs = {0};
  m.outputs = {3};
  return m;
}

Result<graph::Graph> read(std::vector<uint8_t> bytes, Diagnostics& diags, const std::string& signature = "") {
  ReadOptions options;
  options.signature = signature;
  options.operators = &test_operators();
  return read_tflite(std::move(bytes), "models/m.tflite", diags, options, test_rules());
}

// The messages of a model that is refused.
std::string errors_of(const TestModel& model, const std::string& signature = "") {
  Diagnostics diags;
  EXPECT_FALSE(read(model.bytes(), diags, signature).ok());
  EXPECT_TRUE(diags.has_errors());
  return diags.str();
}

graph::Graph read_good(const TestModel& model, const std::string& signature = "") {
  Diagnostics diags;
  auto graph = read(model.bytes(), diags, signature);
  EXPECT_TRUE(graph.ok()) << diags.str();
  EXPECT_EQ(diags.str(), "");
  return graph.ok() ? *graph : graph::Graph{};
}

TEST(TfliteReader, BuildsTheGraph) {
  graph::Graph g = read_good(small_model());
  EXPECT_EQ(g.name, "m");
  EXPECT_EQ(g.source_file, "models/m.tflite");
  EXPECT_EQ(g.description, "made by a test");
  ASSERT_EQ(g.ops.size(), 2u);
  EXPECT_EQ(g.ops[0].name(), "add");
  EXPECT_EQ(g.ops[1].attrs<BetaAttrs>().beta, 1.5f);
  EXPECT_EQ(g.ops[1].location.str(), "models/m.tflite: op 1 SOFTMAX 'out'");
  ASSERT_EQ(g.tensors.size(), 4u);
  EXPECT_EQ(g.tensors[1].constant->to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(g.inputs[0].name, "in");
  EXPECT_EQ(g.outputs[0].name, "out");
  EXPECT_EQ(g[g.outputs[0].tensor].type.shape, (graph::Shape{1, 4}));
}

TEST(TfliteReader, KeepsTheWeightsAliveWithoutCopyingThem) {
  std::vector<uint8_t> bytes = small_model().bytes();
  const uint8_t* begin = bytes.data();
  const uint8_t* end = begin + bytes.size();
  Diagnostics diags;
  auto g = read(std::move(bytes), diags);
  ASSERT_TRUE(g.ok());
  const graph::ConstantView& view = *g->tensors[1].constant;
  EXPECT_GE(view.bytes.data(), begin);
  EXPECT_LT(view.bytes.data(), end);
}

TEST(TfliteReader, LeavesOutTensorsThatNobodyUses) {
  TestModel m = small_model();
  m.tensors.push_back({.name = "debug", .shape = {1}, .type = schema::TensorType_STRING});
  EXPECT_EQ(read_good(m).tensors.size(), 4u);
}

TEST(TfliteReader, ReadsTypesAndQuantisation) {
  TestModel m = small_model();
  m.tensors[0].type = schema::TensorType_INT8;
  m.tensors[0].scale = {0.5f};
  m.tensors[0].zero_point = {-3};
  m.tensors[1] = {.name = "w",
                  .shape = {2, 3},
                  .type = schema::TensorType_INT16,
                  .data = raw_bytes<int16_t>({1, 2, 3, 4, 5, -6}),
                  .scale = {1.0f, 2.0f, 4.0f},
                  .zero_point = {0, 0, 0},
                  .axis = 1};
  graph::Graph g = read_good(m);
  EXPECT_EQ(g.tensors[0].type.dtype, DType::kI8);
  EXPECT_EQ(g.tensors[0].type.scale(), 0.5f);
  EXPECT_EQ(g.tensors[0].type.zero_point(), -3);
  EXPECT_EQ(g.tensors[1].type.quantization.axis, 1);
  EXPECT_EQ(g.tensors[1].type.quantization.scale, (std::vector<float>{1, 2, 4}));
  EXPECT_EQ(g.tensors[1].constant->get<int16_t>(5), -6);
}

TEST(TfliteReader, DropsQuantisationOfFloatTensors) {
  TestModel m = small_model();
  m.tensors[0].scale = {0.5f};
  m.tensors[0].zero_point = {0};
  EXPECT_FALSE(read_good(m).tensors[0].type.quantization.present());
}

TEST(TfliteReader, ReadsAnOpenBatchAsOne) {
  TestModel m = small_model();
  for (int i : {0, 2, 3}) {
    m.tensors[static_cast<size_t>(i)].shape = {-1, 4};
    m.tensors[static_cast<size_t>(i)].signature = {-1, 4};
  }
  graph::Graph g = read_good(m);
  EXPECT_EQ(g.tensors[0].type.shape, (graph::Shape{1, 4}));
  EXPECT_EQ(g.tensors[3].type.shape, (graph::Shape{1, 4}));
}

TEST(TfliteReader, SettlesOpenDimensionsOfResultsByInference) {
  TestModel m = small_model();
  m.tensors[3].shape = {1, 1};
  m.tensors[3].signature = {-1, -1};
  EXPECT_EQ(read_good(m).tensors[3].type.shape, (graph::Shape{1, 4}));
  // A fixed dimension stays as the file says.
  m.tensors[3].signature = {-1, 1};
  EXPECT_EQ(errors_of(m),
            "models/m.tflite: op 1 SOFTMAX 'out': error: result 0 has shape 1x1 in the model, the "
            "operands give 1x4 [op-shape]\n");
}

TEST(TfliteReader, NamesPortsAfterTheSignature) {
  TestModel m = small_model();
  m.signatures = {{"serve", {{"x", 0}}, {{"y", 3}}}, {"other", {{"p", 0}}, {{"q", 3}}}};
  graph::Graph g = read_good(m);
  EXPECT_EQ(g.inputs[0].name, "x");
  EXPECT_EQ(g.outputs[0].name, "y");
  g = read_good(m, "other");
  EXPECT_EQ(g.inputs[0].name, "p");
  EXPECT_EQ(g.outputs[0].name, "q");
}

TEST(TfliteReader, NamesATensorThatIsTwoOutputsTwice) {
  TestModel m = small_model();
  m.outputs = {3, 2, 3};
  m.signatures = {{"serve", {{"x", 0}}, {{"first", 3}, {"middle", 2}, {"last", 3}}}};
  graph::Graph g = read_good(m);
  ASSERT_EQ(g.outputs.size(), 3u);
  EXPECT_EQ(g.outputs[0].name, "first");
  EXPECT_EQ(g.outputs[1].name, "middle");
  EXPECT_EQ(g.outputs[2].name, "last");
}

TEST(TfliteReader, ReadsSeveralInputsAndOutputs) {
  TestModel m = small_model();
  m.tensors[1].data.clear();
  m.inputs = {1, 0};
  m.outputs = {3, 2};
  graph::Graph g = read_good(m);
  ASSERT_EQ(g.inputs.size(), 2u);
  EXPECT_EQ(g.inputs[0].name, "w");
  EXPECT_EQ(g.outputs[1].name, "sum");
}

TEST(TfliteReader, ReadsAbsentOperands) {
  TestModel m = small_model();
  m.ops[0].in = {0, -1};
  graph::Graph g = read_good(m);
  EXPECT_FALSE(g.ops[0].operands[1].valid());
}

TEST(TfliteReader, WarnsOfOtherSubgraphs) {
  TestModel m = small_model();
  m.extra_subgraphs = 1;
  m.signatures = {{"a", {{"x", 0}}, {{"y", 3}}, 0}, {"b", {}, {}, 1}};
  Diagnostics diags;
  EXPECT_TRUE(read(m.bytes(), diags).ok());
  EXPECT_EQ(diags.str(),
            "models/m.tflite: warning: the model has 2 subgraphs; only subgraph 0 is compiled "
            "[subgraph-unused]\n"
            "  note: signature 'b' runs subgraph 1\n"
            "  help: choose another signature with --signature KEY\n");
}

TEST(TfliteReaderErrors, OneUnsupportedOperator) {
  TestModel m = small_model();
  m.codes[1] = {kUnknown};
  EXPECT_EQ(errors_of(m),
            "models/m.tflite: op 1 LSH_PROJECTION 'out': error: operator is not supported "
            "[op-unsupported]\n"
            "  note: 1 of 2 operators compile\n"
            "  help: 'aotc ops --like LSH_PROJECTION' lists similar operators that are supported\n");
}

TEST(TfliteReaderErrors, SeveralUnsupportedOperatorsTogether) {
  TestModel m = small_model();
  m.tensors.push_back({.name = "it's", .shape = {1, 4}});
  m.ops.push_back({.code = 2, .in = {3}, .out = {4}});
  m.outputs = {4};
  m.codes = {{kAdd}, {kUnknown}, {kCustom, "Blend"}};
  EXPECT_EQ(errors_of(m),
            "models/m.tflite: error: 2 operators are not supported [op-unsupported]\n"
            "  note: op 1 LSH_PROJECTION 'out'\n"
            "  note: op 2 Blend 'it\\x27s'\n"
            "  note: 1 of 3 operators compile\n"
            "  help: 'aotc ops --like LSH_PROJECTION' lists similar operators that are supported\n"
            "  help: 'Blend' is a custom operator: pass its C code with --operators (docs/custom-operators.md)\n");
}

TEST(TfliteReaderErrors, UnsupportedOperatorsAndTypesInOneRun) {
  TestModel m = small_model();
  m.codes[1] = {kUnknown};
  m.tensors[0].type = schema::TensorType_FLOAT16;
  m.tensors[2].type = schema::TensorType_FLOAT16;
  EXPECT_EQ(errors_of(m),
            "models/m.tflite: op 1 LSH_PROJECTION 'out': error: operator is not supported "
            "[op-unsupported]\n"
            "  note: 0 of 2 operators compile\n"
            "  help: 'aotc ops --like LSH_PROJECTION' lists similar operators that are supported\n"
            "models/m.tflite: tensor 'in': error: element type FLOAT16 is not supported "
            "[tflite-dtype]\n"
            "  note: 1 more tensor of this type\n"
            "  help: float16 is supported only for weights that a DEQUANTIZE converts to float32: convert the model "
            "without float16 inputs, outputs and activations\n");
}

TEST(TfliteReaderErrors, NotAModel) {
  Diagnostics diags;
  EXPECT_FALSE(read({1, 2, 3}, diags).ok());
  EXPECT_EQ(diags.str(),
            "models/m.tflite: error: the file is not a TFLite model (3 bytes without the identifier TFL3) "
            "[tflite-invalid]\n"
            "  help: give a file written by the TensorFlow Lite converter\n");
}

TEST(TfliteReaderErrors, Truncated) {
  std::vector<uint8_t> bytes = small_model().bytes();
  bytes.resize(bytes.size() / 2);
  Diagnostics diags;
  EXPECT_FALSE(read(bytes, diags).ok());
  EXPECT_EQ(diags.str(),
            "models/m.tflite: error: an offset in the file points outside of the file "
            "[tflite-invalid]\n"
            "  help: the file is damaged or not a TFLite model; export it again\n");
}

TEST(TfliteReaderErrors, EveryTruncationIsAnErrorOrAGraph) {
  std::vector<uint8_t> whole = small_model().bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    Diagnostics diags;
    auto g = read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, diags);
    EXPECT_NE(g.ok(), diags.has_errors()) << size;
  }
}

// Real models, where there are some: set AOTC_MODELS to a directory of .tflite files.
TEST(TfliteReader, ReadsRealModels) {
  const char* directory = std::getenv("AOTC_MODELS");
  if (directory == nullptr) GTEST_SKIP() << "AOTC_MODELS is not set";
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".tflite") continue;
    Diagnostics diags;
    auto bytes = read_file(entry.path().string(), diags);
    ASSERT_TRUE(bytes.ok()) << diags.str();
    auto g = read_tflite(std::move(*bytes), entry.path().string(), diags);
    ASSERT_TRUE(g.ok()) << diags.str();
    EXPECT_TRUE(ops::verify_graph(*g, diags)) << diags.str();
    EXPECT_EQ(diags.str(), "");
    EXPECT_FALSE(g->ops.empty());
  }
}

// Each row: a change to the small model, and the message it must give.
struct BadModel {
  const char* name;
  std::function<void(TestModel&)> change;
  const char* message;
};

class TfliteReaderBadModel : public ::testing::TestWithParam<BadModel> {};

TEST_P(TfliteReaderBadModel, GivesTheMessage) {
  TestModel m = small_model();
  GetParam().change(m);
  std::string text = errors_of(m);
  // The first line: what and where. Every message must also say what to do.
  EXPECT_EQ(text.substr(0, text.find('\n')), GetParam().message);
  EXPECT_THAT(text, ::testing::HasSubstr("\n  help: "));
}

const BadModel kBadModels[] = {
    {"Version", [](TestModel& m) { m.version = 2; },
     "models/m.tflite: error: version 2 of the TFLite format is not supported, only version 3 "
     "[tflite-version]"},
    {"NoInputs", [](TestModel& m) { m.inputs = {}; },
     "models/m.tflite: error: the model has no inputs [tflite-invalid]"},
    {"NoOutputs", [](TestModel& m) { m.outputs = {}; },
     "models/m.tflite: error: the model has no outputs [tflite-invalid]"},
    {"InputIndex", [](TestModel& m) { m.inputs = {4}; },
     "models/m.tflite: error: input 0 is tensor 4, but the subgraph has 4 tensors, numbered from 0 [tflite-invalid]"},
    {"InputTwice", [](TestModel& m) { m.inputs = {0, 0}; },
     "models/m.tflite: error: input 1 is listed twice [tflite-invalid]"},
    {"OutputIndex", [](TestModel& m) { m.outputs = {-1}; },
     "models/m.tflite: error: output 0 is tensor -1, but the subgraph has 4 tensors, numbered from 0 [tflite-invalid]"},
    {"OutputIsInput", [](TestModel& m) { m.outputs = {0}; },
     "models/m.tflite: tensor 'in': error: output 0 is not computed by any operator "
     "[output-not-computed]"},
    {"OpCode", [](TestModel& m) { m.ops[1].code = 2; },
     "models/m.tflite: op 1 'out': error: opcode_index is 2, but the file has 2 operator codes, numbered from 0 "
     "[tflite-invalid]"},
    {"OperandIndex", [](TestModel& m) { m.ops[0].in = {0, 9}; },
     "models/m.tflite: op 0 ADD 'sum': error: operand 1 is tensor 9, but the subgraph has 4 tensors, numbered from 0 "
     "[tflite-invalid]"},
    {"ResultIndex", [](TestModel& m) { m.ops[0].out = {-1}; },
     "models/m.tflite: op 0 ADD: error: result 0 is tensor -1, but the subgraph has 4 tensors, numbered from 0 "
     "[tflite-invalid]"},
    {"NoResults", [](TestModel& m) { m.ops[0].out = {}; },
     "models/m.tflite: op 0 ADD: error: the operator has no results [tflite-invalid]"},
    {"UsedBeforeComputed", [](TestModel& m) { std::swap(m.ops[0], m.ops[1]); },
     "models/m.tflite: op 0 SOFTMAX 'out': error: operand 0 'sum' is not a constant, and no earlier operator "
     "computes it [tflite-invalid]"},
    {"ComputedTwice", [](TestModel& m) { m.ops[1].out = {2}; },
     "models/m.tflite: op 1 SOFTMAX 'sum': error: result 0 'sum' is an input, or an earlier operator "
     "already computes it [tflite-invalid]"},
    {"BufferIndex", [](TestModel& m) { m.tensors[1].buffer = 7; },
     "models/m.tflite: tensor 'w': error: the tensor's data is buffer 7, but the file has 2 buffers, numbered from 0 "
     "[tflite-invalid]"},
    {"BufferSize", [](TestModel& m) { m.tensors[1].data.pop_back(); },
     "models/m.tflite: tensor 'w': error: there are 15 bytes of data for shape 4 of FLOAT32, expected 16 "
     "[tflite-invalid]"},
    {"ConstantInput", [](TestModel& m) { m.tensors[0].buffer = 1; },
     "models/m.tflite: tensor 'in': error: an input of the model has constant data "
     "[tflite-invalid]"},
    {"ConstantResult", [](TestModel& m) { m.tensors[2].buffer = 1; },
     "models/m.tflite: tensor 'sum': error: a tensor that an operator computes has constant data "
     "[tflite-invalid]"},
    {"DynamicInput",
     [](TestModel& m) {
       m.tensors[0].shape = {1, 1};
       m.tensors[0].signature = {-1, -1};
     },
     "models/m.tflite: tensor 'in': error: dimension 1 of the input is not fixed (shape ?x?) "
     "[dynamic-shape]"},
    {"NegativeDimension", [](TestModel& m) { m.tensors[2].shape = {1, -5}; },
     "models/m.tflite: tensor 'sum': error: dimension 1 is -5 [tflite-shape]"},
    {"EmptyInput", [](TestModel& m) { m.tensors[0].shape = {1, 0}; },
     "models/m.tflite: tensor 'in': error: the tensor has no elements (shape 1x0) [tflite-shape]"},
    {"Rank", [](TestModel& m) { m.tensors[0].shape.assign(9, 1); },
     "models/m.tflite: tensor 'in': error: the tensor has 9 dimensions, but the limit is 8 "
     "[tflite-shape]"},
    {"HugeShape", [](TestModel& m) { m.tensors[0].shape.assign(8, INT32_MAX); },
     "models/m.tflite: tensor 'in': error: a FLOAT32 tensor of shape "
     "2147483647x2147483647x2147483647x2147483647x2147483647x2147483647x2147483647x2147483647 is "
     "larger than 67108864 bytes [tflite-limit]"},
    {"TypeNumber", [](TestModel& m) { m.tensors[0].type = static_cast<schema::TensorType>(99); },
     "models/m.tflite: tensor 'in': error: element type 99 is not supported [tflite-dtype]"},
    {"Sparse", [](TestModel& m) { m.tensors[1].sparse = true; },
     "models/m.tflite: tensor 'w': error: the sparse encoding does not match the tensor's shape and data "
     "[tflite-sparse]"},
    {"Variable", [](TestModel& m) { m.tensors[1].variable = true; },
     "models/m.tflite: tensor 'w': error: the tensor is a variable (state between runs), but aotc supports no state "
     "for "
     "its operator [tflite-variable]"},
    {"CustomQuantisation", [](TestModel& m) { m.tensors[0].custom_quantization = true; },
     "models/m.tflite: tensor 'in': error: only affine quantisation, per tensor or per channel, is "
     "supported [tflite-quantization]"},
    {"SignatureTensor", [](TestModel& m) { m.signatures = {{"serve", {{"x", 99}}, {{"y", 3}}}}; },
     "models/m.tflite: error: the signature names tensor 99, which is not an input of the subgraph "
     "[tflite-invalid]"},
};

INSTANTIATE_TEST_SUITE_P(All, TfliteReaderBadModel, ::testing::ValuesIn(kBadModels),
                         [](const auto& row) { return std::string(row.param.name); });

// Quantisation of an int8 tensor of shape 1x4.
struct BadQuantization {
  const char* name;
  std::vector<float> scale;
  std::vector<int64_t> zero_point;
  int axis;
  const char* message;
};

class TfliteReaderBadQuantization : public ::testing::TestWithParam<BadQuantization> {};

TEST_P(TfliteReaderBadQuantization, GivesTheMessage) {
  TestModel m = small_model();
  m.tensors[0].type = schema::TensorType_INT8;
  m.tensors[0].scale = GetParam().scale;
  m.tensors[0].zero_point = GetParam().zero_point;
  m.tensors[0].axis = GetParam().axis;
  std::string text = errors_of(m);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "models/m.tflite: tensor 'in': error: " + std::string(GetParam().message) + " [tflite-quantization]");
}

const BadQuantization kBadQuantizations[] = {
    {"Counts", {1, 1, 1}, {0, 0}, 0, "the tensor has 3 scales, but 2 zero points"},
    {"Axis", {1, 1}, {0, 0}, 2, "the tensor is quantised along dimension 2, but has rank 2"},
    {"NegativeAxis", {1, 1}, {0, 0}, -1, "the tensor is quantised along dimension -1, but has rank 2"},
    {"Channels", {1, 1}, {0, 0}, 1, "the tensor has 2 scales for 4 channels (dimension 1 of shape 1x4)"},
    {"Negative", {-1}, {0}, 0, "scale 0 is -1, but must be at least 0 and finite"},
    {"NotANumber", {NAN}, {0}, 0, "scale 0 is nan, but must be at least 0 and finite"},
    {"ZeroPoint", {1}, {128}, 0, "zero point 0 is 128, but must be from -128 to 127"},
};

INSTANTIATE_TEST_SUITE_P(All, TfliteReaderBadQuantization, ::testing::ValuesIn(kBadQuantizations),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(TfliteReaderErrors, UnknownSignature) {
  TestModel m = small_model();
  m.signatures = {{"serve", {{"x", 0}}, {{"y", 3}}}};
  EXPECT_EQ(errors_of(m, "train"),
            "models/m.tflite: error: the model has no signature 'train' [signature-unknown]\n"
            "  note: the model has 'serve'\n"
            "  help: use one of these, or omit the signature to use the first\n");
}

// The arena has a limit, not the sum of tensors that are not there at the same time.
TEST(TfliteReader, TakesAnySumOfTensors) {
  TestModel m = small_model();
  for (int i : {0, 2, 3}) m.tensors[static_cast<size_t>(i)].shape = {1 << 24};
  for (int i = 4; i < 9; ++i) {
    m.tensors.push_back({.name = "more " + std::to_string(i), .shape = {1 << 24}});
    m.ops.push_back({.code = 1, .in = {i - 1}, .out = {i}});
  }
  Diagnostics diags;
  EXPECT_TRUE(read(m.bytes(), diags).ok()) << diags.str();
}

TEST(TfliteReaderErrors, GivesUpAfterManyErrors) {
  TestModel m = small_model();
  for (int i = 0; i < 60; ++i) m.ops.push_back({.code = 0, .in = {0, 99}, .out = {2}});
  // Errors of another file in the same sink do not count.
  Diagnostics diags;
  for (int i = 0; i < 60; ++i) diags.error({}, "other", "other");
  EXPECT_FALSE(read(m.bytes(), diags).ok());
  EXPECT_EQ(diags.error_count(), 60 + 51);
  EXPECT_EQ(diags.all().back().message, "too many errors; the others are omitted");
  Diagnostics again;
  for (int i = 0; i < 60; ++i) again.error({}, "other", "other");
  EXPECT_TRUE(read(small_model().bytes(), again).ok());
}

// A few bytes that claim to be a great many: every tensor names the one large constant.
TEST(TfliteReaderErrors, SharedDataIsCounted) {
  TestModel m = small_model();
  m.tensors[1].data.assign(40000, 1);
  m.tensors[1].shape = {10000};
  m.ops.clear();
  for (int i = 0; i < 200; ++i) {
    m.tensors.push_back({.name = "c", .shape = {10000}, .buffer = 1});
    m.tensors.push_back({.name = "r", .shape = {1, 4}});
    int32_t n = static_cast<int32_t>(m.tensors.size());
    m.ops.push_back({.code = 0, .in = {0, n - 2}, .out = {n - 1}});
  }
  m.outputs = {static_cast<int32_t>(m.tensors.size()) - 1};
  std::string text = errors_of(m);
  EXPECT_THAT(text, ::testing::HasSubstr("many tables of the file refer to the same data "
                                         "[tflite-limit]"));
}

TEST(TfliteBuiltinNames, Known) {
  EXPECT_EQ(frontends::tflite_builtin_name(3), "CONV_2D");
  EXPECT_EQ(frontends::tflite_builtin_name(114), "QUANTIZE");
  EXPECT_EQ(frontends::tflite_builtin_name(206), "STABLEHLO_COMPOSITE");
  EXPECT_EQ(frontends::tflite_builtin_name(5000), "BUILTIN_5000");
  EXPECT_EQ(frontends::tflite_builtin_name(-2), "BUILTIN_-2");
}

}  // namespace
}  // namespace tflite_reader_test
}  // namespace aotc
