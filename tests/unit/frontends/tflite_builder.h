// SPDX-License-Identifier: Apache-2.0
// Writes small .tflite files for tests, right or wrong in one chosen way. The one thing to know:
// nothing is checked; a field of TestModel goes into the file as it is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tflite_schema_generated.h"

namespace aotc::testing {

namespace schema = tflite_schema;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

struct TestTensor {
  std::string name;
  std::vector<int32_t> shape;
  schema::TensorType type = schema::TensorType_FLOAT32;
  std::vector<uint8_t> data = {};  // empty: not a constant
  std::vector<int32_t> signature = {};
  std::vector<float> scale = {};
  std::vector<int64_t> zero_point = {};
  int axis = 0;
  bool variable = false;
  bool sparse = false;
  bool custom_quantization = false;
  int32_t block_size = 0, block_scales = -1, block_zeros = -1;  // blockwise: tensors
  int32_t buffer = -1;                                          // overrides the buffer made for `data`
};

struct TestOp {
  uint32_t code = 0;  // entry of TestModel::codes
  std::vector<int32_t> in = {};
  std::vector<int32_t> out = {};
  schema::BuiltinOptions options_type = schema::BuiltinOptions_NONE;
  std::function<Offset<void>(FlatBufferBuilder&)> options = {};
};

struct TestCode {
  int builtin = 0;
  std::string custom = {};
};

struct TestSignature {
  std::string key;
  std::vector<std::pair<std::string, uint32_t>> inputs;
  std::vector<std::pair<std::string, uint32_t>> outputs;
  uint32_t subgraph = 0;
};

struct TestModel {
  std::vector<TestTensor> tensors;
  std::vector<TestCode> codes;
  std::vector<TestOp> ops;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<TestSignature> signatures = {};
  uint32_t version = 3;
  int extra_subgraphs = 0;                // empty ones behind the others
  std::vector<TestModel> subgraphs = {};  // behind the first: their tensors, operators, inputs and outputs

  std::vector<uint8_t> bytes() const;
};

namespace builder {

inline Offset<schema::Tensor> add_tensor(FlatBufferBuilder& fbb, const TestTensor& t,
                                         std::vector<Offset<schema::Buffer>>& buffers) {
  uint32_t buffer = 0;
  if (!t.data.empty()) {
    buffer = static_cast<uint32_t>(buffers.size());
    buffers.push_back(schema::CreateBufferDirect(fbb, &t.data));
  }
  if (t.buffer >= 0) buffer = static_cast<uint32_t>(t.buffer);
  Offset<schema::QuantizationParameters> quantization;
  if (!t.scale.empty() || t.custom_quantization || t.block_size > 0) {
    Offset<void> details;
    auto type = schema::QuantizationDetails_NONE;
    if (t.custom_quantization) {
      type = schema::QuantizationDetails_CustomQuantization;
      details = schema::CreateCustomQuantization(fbb).Union();
    } else if (t.block_size > 0) {
      type = schema::QuantizationDetails_BlockwiseQuantization;
      details = schema::CreateBlockwiseQuantization(fbb, t.block_scales, t.block_zeros, t.block_size).Union();
    }
    quantization = schema::CreateQuantizationParametersDirect(fbb, nullptr, nullptr, &t.scale, &t.zero_point, type,
                                                              details, t.axis);
  }
  Offset<schema::SparsityParameters> sparsity;
  if (t.sparse) sparsity = schema::CreateSparsityParameters(fbb);
  return schema::CreateTensorDirect(fbb, &t.shape, t.type, buffer, t.name.c_str(), quantization, t.variable, sparsity,
                                    t.signature.empty() ? nullptr : &t.signature);
}

inline Offset<schema::Operator> add_op(FlatBufferBuilder& fbb, const TestOp& op) {
  Offset<void> options;
  if (op.options) options = op.options(fbb);
  return schema::CreateOperatorDirect(fbb, op.code, &op.in, &op.out, op.options_type, options);
}

inline Offset<schema::SignatureDef> add_signature(FlatBufferBuilder& fbb, const TestSignature& s) {
  auto maps = [&](const std::vector<std::pair<std::string, uint32_t>>& from) {
    std::vector<Offset<schema::TensorMap>> out;
    for (const auto& [name, index] : from) {
      out.push_back(schema::CreateTensorMapDirect(fbb, name.c_str(), index));
    }
    return out;
  };
  auto inputs = maps(s.inputs);
  auto outputs = maps(s.outputs);
  return schema::CreateSignatureDefDirect(fbb, &inputs, &outputs, s.key.c_str(), s.subgraph);
}

inline Offset<schema::OperatorCode> add_code(FlatBufferBuilder& fbb, const TestCode& code) {
  int8_t deprecated = static_cast<int8_t>(code.builtin < 127 ? code.builtin : 127);
  return schema::CreateOperatorCodeDirect(fbb, deprecated, code.custom.empty() ? nullptr : code.custom.c_str(), 1,
                                          code.builtin);
}

inline Offset<schema::SubGraph> add_subgraph(FlatBufferBuilder& fbb, const TestModel& m, const char* name,
                                             std::vector<Offset<schema::Buffer>>& buffers) {
  std::vector<Offset<schema::Tensor>> tensor_list;
  for (const TestTensor& t : m.tensors) tensor_list.push_back(add_tensor(fbb, t, buffers));
  std::vector<Offset<schema::Operator>> op_list;
  for (const TestOp& op : m.ops) op_list.push_back(add_op(fbb, op));
  return schema::CreateSubGraphDirect(fbb, &tensor_list, &m.inputs, &m.outputs, &op_list, name);
}

}  // namespace builder

inline std::vector<uint8_t> TestModel::bytes() const {
  FlatBufferBuilder fbb;
  std::vector<Offset<schema::Buffer>> buffers{schema::CreateBuffer(fbb)};
  std::vector<Offset<schema::SubGraph>> all{builder::add_subgraph(fbb, *this, "main", buffers)};
  for (const TestModel& m : subgraphs) all.push_back(builder::add_subgraph(fbb, m, "other", buffers));
  for (int i = 0; i < extra_subgraphs; ++i) all.push_back(schema::CreateSubGraph(fbb));
  std::vector<Offset<schema::OperatorCode>> code_list;
  for (const TestCode& code : codes) code_list.push_back(builder::add_code(fbb, code));
  std::vector<Offset<schema::SignatureDef>> signature_list;
  for (const TestSignature& s : signatures) {
    signature_list.push_back(builder::add_signature(fbb, s));
  }
  fbb.Finish(schema::CreateModelDirect(fbb, version, &code_list, &all, "made by a test", &buffers, nullptr, nullptr,
                                       &signature_list),
             schema::ModelIdentifier());
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

}  // namespace aotc::testing
