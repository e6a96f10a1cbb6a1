// SPDX-License-Identifier: Apache-2.0
// Writes the committed corpus of small .tflite files: `make_corpus DIR`. They start the fuzzers off
// in the parts of the format that a mutation seldom reaches by itself.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "../unit/frontends/tflite_builder.h"

namespace {

using namespace aotc::testing;

TestTensor int8_tensor(const char* name, std::vector<int32_t> shape, float scale, int64_t zero) {
  TestTensor t{.name = name, .shape = std::move(shape), .type = schema::TensorType_INT8};
  t.scale = {scale};
  t.zero_point = {zero};
  return t;
}

template <typename T>
std::vector<uint8_t> raw_bytes(const std::vector<T>& values) {
  std::vector<uint8_t> out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

// 1x4x4x1 -> 2x2 convolution of stride 2 with two channels, per channel, and its signature.
TestModel conv_int8() {
  TestModel m;
  m.tensors = {int8_tensor("in", {1, 4, 4, 1}, 0.5f, -1), {}, {}, {}};
  m.tensors[1] = {.name = "weights",
                  .shape = {2, 2, 2, 1},
                  .type = schema::TensorType_INT8,
                  .data = {1, 2, 3, 255, 5, 6, 7, 129},
                  .scale = {0.25f, 0.125f},
                  .zero_point = {0, 0}};
  m.tensors[2] = {.name = "bias",
                  .shape = {2},
                  .type = schema::TensorType_INT32,
                  .data = raw_bytes<int32_t>({10, -20}),
                  .scale = {0.125f, 0.0625f},
                  .zero_point = {0, 0}};
  m.tensors[3] = int8_tensor("out", {1, 2, 2, 2}, 1.0f, 3);
  m.tensors[0].signature = {-1, 4, 4, 1};
  m.tensors[3].signature = {-1, 2, 2, 2};
  m.codes = {{3}};
  m.ops = {{.code = 0,
            .in = {0, 1, 2},
            .out = {3},
            .options_type = schema::BuiltinOptions_Conv2DOptions,
            .options = [](FlatBufferBuilder& fbb) {
              return schema::CreateConv2DOptions(fbb, schema::Padding_VALID, 2, 2, schema::ActivationFunctionType_RELU)
                  .Union();
            }}};
  m.inputs = {0};
  m.outputs = {3};
  m.signatures = {{"serving_default", {{"image", 0}}, {{"scores", 3}}}};
  return m;
}

// A 1x1 convolution of int16 whose biases of 64 bits lie at the ends of int64: refused, whatever its weights.
TestModel conv_int16_bias() {
  TestModel m;
  m.tensors = {int8_tensor("in", {1, 2, 2, 1}, 0.5f, 0), {}, {}, int8_tensor("out", {1, 2, 2, 2}, 1.0f, 0)};
  m.tensors[0].type = m.tensors[3].type = schema::TensorType_INT16;
  m.tensors[1] = {.name = "weights",
                  .shape = {2, 1, 1, 1},
                  .type = schema::TensorType_INT8,
                  .data = {127, 129},
                  .scale = {0.25f, 0.125f},
                  .zero_point = {0, 0}};
  m.tensors[2] = {.name = "bias",
                  .shape = {2},
                  .type = schema::TensorType_INT64,
                  .data = raw_bytes<int64_t>({INT64_MIN, INT64_MAX}),
                  .scale = {0.125f, 0.0625f},
                  .zero_point = {0, 0}};
  m.codes = {{3}};
  m.ops = {{.code = 0,
            .in = {0, 1, 2},
            .out = {3},
            .options_type = schema::BuiltinOptions_Conv2DOptions,
            .options = [](FlatBufferBuilder& fbb) {
              return schema::CreateConv2DOptions(fbb, schema::Padding_VALID, 1, 1).Union();
            }}};
  m.inputs = {0};
  m.outputs = {3};
  return m;
}

// A square root of int8, which ends a run where the number is negative: no fault of the compiler's.
TestModel root_of_negative() {
  TestModel m;
  m.tensors = {int8_tensor("x", {1, 16}, 0.03125f, 0), int8_tensor("root", {1, 16}, 0.0625f, -128)};
  m.codes = {{75}};
  m.ops = {{.code = 0, .in = {0}, .out = {1}}};
  m.inputs = {0};
  m.outputs = {1};
  return m;
}

// (a + b) reshaped by a constant shape, then softmax; two inputs, two outputs, float.
TestModel add_reshape_softmax() {
  TestModel m;
  m.tensors = {{.name = "a", .shape = {1, 6}},
               {.name = "b", .shape = {1, 1}},
               {.name = "sum", .shape = {1, 6}},
               {.name = "shape", .shape = {2}, .type = schema::TensorType_INT32, .data = raw_bytes<int32_t>({2, 3})},
               {.name = "rows", .shape = {2, 3}},
               {.name = "out", .shape = {2, 3}}};
  m.codes = {{0}, {22}, {25}};
  m.ops = {{.code = 0,
            .in = {0, 1},
            .out = {2},
            .options_type = schema::BuiltinOptions_AddOptions,
            .options = [](FlatBufferBuilder& fbb) { return schema::CreateAddOptions(fbb).Union(); }},
           {.code = 1, .in = {2, 3}, .out = {4}},
           {.code = 2,
            .in = {4},
            .out = {5},
            .options_type = schema::BuiltinOptions_SoftmaxOptions,
            .options = [](FlatBufferBuilder& fbb) { return schema::CreateSoftmaxOptions(fbb, 1.0f).Union(); }}};
  m.inputs = {0, 1};
  m.outputs = {5, 2};
  return m;
}

// A strided slice and a pad, whose meaning lies in constant operands.
TestModel slice_pad() {
  auto constant = [](const char* name, std::vector<int32_t> shape, std::vector<int32_t> values) {
    return TestTensor{
        .name = name, .shape = std::move(shape), .type = schema::TensorType_INT32, .data = raw_bytes(values)};
  };
  TestModel m;
  m.tensors = {int8_tensor("in", {1, 5, 2}, 0.5f, 0),
               constant("begin", {3}, {0, 1, 0}),
               constant("end", {3}, {1, 5, 2}),
               constant("strides", {3}, {1, 2, 1}),
               int8_tensor("cut", {1, 2, 2}, 0.5f, 0),
               constant("pads", {3, 2}, {0, 0, 1, 1, 0, 2}),
               int8_tensor("*/ evil \x01", {1, 4, 4}, 0.5f, 0)};
  m.codes = {{45}, {34}};
  m.ops = {{.code = 0,
            .in = {0, 1, 2, 3},
            .out = {4},
            .options_type = schema::BuiltinOptions_StridedSliceOptions,
            .options = [](FlatBufferBuilder& fbb) { return schema::CreateStridedSliceOptions(fbb).Union(); }},
           {.code = 1, .in = {4, 5}, .out = {6}}};
  m.inputs = {0};
  m.outputs = {6};
  return m;
}

// A custom operator and one that there is not: refused, with everything the messages need.
TestModel unsupported() {
  TestModel m;
  m.tensors = {{.name = "in", .shape = {1}}, {.name = "t", .shape = {1}}, {.name = "", .shape = {1}}};
  m.codes = {{32, "Blend"}, {15}};
  m.ops = {{.code = 0, .in = {0, -1}, .out = {1}}, {.code = 1, .in = {1}, .out = {2}}};
  m.inputs = {0};
  m.outputs = {2};
  m.extra_subgraphs = 2;
  return m;
}

// conv_int8 with a zero point vector that starts at an odd multiple of 4 bytes (it is the scale
// vector, read as 8-byte numbers): FlatBuffers' verifier lets it pass. Empty if there is none.
std::vector<uint8_t> misaligned_zero_point() {
  std::vector<uint8_t> bytes = conv_int8().bytes();
  for (const schema::Tensor* t : *schema::GetModel(bytes.data())->subgraphs()->Get(0)->tensors()) {
    const schema::QuantizationParameters* q = t->quantization();
    if ((q->scale()->Data() - bytes.data()) % 8 == 0) continue;
    const auto* table = static_cast<const flatbuffers::Table*>(static_cast<const void*>(q));
    size_t vtable = static_cast<size_t>(table->GetVTable() - bytes.data());
    using Q = schema::QuantizationParameters;
    // Two vtable entries may name one field of the table.
    bytes[vtable + Q::VT_ZERO_POINT] = bytes[vtable + Q::VT_SCALE];
    bytes[vtable + Q::VT_ZERO_POINT + 1] = bytes[vtable + Q::VT_SCALE + 1];
    return bytes;
  }
  return {};
}

// Sums up one input of each name and gives every partial sum out; tests/fuzz/test_hostile_names.py runs
// the C that is made of it. Names stand where C has comments, members, macros and source maps.
std::vector<uint8_t> hostile_names() {
  const std::vector<std::string> names = {"*/ evil",
                                          "*/ int evil; /*",
                                          "/* // ",
                                          "x\"; evil(); \"",
                                          "'",
                                          "a\nb",
                                          "a\r\nb",
                                          "// \\\n",
                                          "ends in \\",
                                          "ends in \?\?/",
                                          "\?\?/\n",
                                          "\?\?!\?\?=",
                                          "*\\\n/",
                                          "*\?\?/\n/ evil",
                                          "#define int float",
                                          "#include \"evil\"",
                                          "%s%n%d{}",
                                          "\x01\x1b[31m\x7f",
                                          "\xff\xfe\x80",
                                          "\xc3",
                                          "\xe2\x80\xa8 \xc3\xbc",
                                          "\xf0\x9f\x90\xb1",
                                          std::string(10'000, 'a'),
                                          std::string(4'000, '/') + "*",
                                          "",
                                          " ",
                                          "_",
                                          "__",
                                          "_x",
                                          "__x",
                                          "X",
                                          "x",
                                          "x",
                                          "x_2",
                                          "X ",
                                          "x-2",
                                          "0digit",
                                          "9",
                                          "int",
                                          "static",
                                          "restrict",
                                          "_Bool",
                                          "inline",
                                          "class",
                                          "this",
                                          "NULL",
                                          "null",
                                          "run",
                                          "status",
                                          "a",
                                          "in",
                                          "out",
                                          "inputs",
                                          "outputs",
                                          "arena",
                                          "trace",
                                          "op",
                                          "shape",
                                          "none",
                                          "min_i32",
                                          "max_f32",
                                          "float_bits",
                                          "case_run",
                                          "CASE_RUN",
                                          "uint8_t",
                                          "int32_t",
                                          "INT8_MAX",
                                          "memcpy",
                                          "memset",
                                          "errno",
                                          "stdin",
                                          "assert",
                                          "offsetof",
                                          "signbit",
                                          "isnan",
                                          "EXP",
                                          "main",
                                          "linux",
                                          "count",
                                          "bytes",
                                          "scale",
                                          "count_bytes",
                                          "dims",
                                          "ARENA_SIZE",
                                          "ERROR_ARGUMENT",
                                          "for_each_input"};
  TestModel m;
  for (const std::string& name : names) m.tensors.push_back({.name = name, .shape = {1, 4}});
  TestSignature signature;
  signature.key = "*/ \"\n\\";
  m.codes = {{0}};
  int32_t total = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    m.inputs.push_back(static_cast<int32_t>(i));
    if (i % 3 == 1) signature.inputs.push_back({names[(i + 7) % names.size()], static_cast<uint32_t>(i)});
    if (i == 0) continue;
    auto sum = static_cast<int32_t>(m.tensors.size());
    m.tensors.push_back({.name = names[(i * 5) % names.size()], .shape = {1, 4}});
    m.ops.push_back({.code = 0,
                     .in = {total, static_cast<int32_t>(i)},
                     .out = {sum},
                     .options_type = schema::BuiltinOptions_AddOptions,
                     .options = [](FlatBufferBuilder& fbb) { return schema::CreateAddOptions(fbb).Union(); }});
    m.outputs.push_back(sum);
    if (i % 3 == 2) signature.outputs.push_back({names[i], static_cast<uint32_t>(sum)});
    total = sum;
  }
  m.signatures = {signature};
  std::vector<uint8_t> bytes = m.bytes();
  // The builder's own description, overwritten by one of the same length.
  const std::string made = "made by a test", hostile = "*/ evil;\\\n\?\?/\"";
  auto at = std::search(bytes.begin(), bytes.end(), made.begin(), made.end());
  if (at == bytes.end() || hostile.size() != made.size()) return {};
  std::copy(hostile.begin(), hostile.end(), at);
  return bytes;
}

bool write(const std::string& path, const std::vector<uint8_t>& bytes) {
  if (bytes.empty()) return false;
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return out.good();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_corpus DIR\n");
    return 2;
  }
  std::string dir = std::string(argv[1]) + "/";
  bool good = write(dir + "conv_int8.tflite", conv_int8().bytes()) &&
              write(dir + "add_reshape_softmax.tflite", add_reshape_softmax().bytes()) &&
              write(dir + "conv_int16_bias.tflite", conv_int16_bias().bytes()) &&
              write(dir + "root_of_negative.tflite", root_of_negative().bytes()) &&
              write(dir + "slice_pad.tflite", slice_pad().bytes()) &&
              write(dir + "unsupported.tflite", unsupported().bytes()) &&
              write(dir + "hostile_names.tflite", hostile_names()) &&
              write(dir + "misaligned_zero_point.tflite", misaligned_zero_point());
  return good ? 0 : 1;
}
