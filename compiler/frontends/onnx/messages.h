// SPDX-License-Identifier: Apache-2.0
// The protobuf messages of an ONNX file, as structs with the fields that aotc reads. Text and data are views of the
// file's bytes, which must outlive them. The parser limits counts and depths, but does not check the meaning of any
// name, number or size.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/onnx/wire.h"
#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::frontends::onnx {

// Element types with their numbers in an ONNX file; aotc refuses other types.
enum ElementType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
  kFloat8E4M3Fn = 17,
  kFloat8E4M3FnUz = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FnUz = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
};
// "FLOAT", "INT64"; the number as text if the type has no name.
std::string element_type_name(int32_t type);

// The numbers of a repeated field, as runs of bytes in the file: one run of packed numbers, or one run per number.
using Runs = std::vector<Bytes>;

struct Tensor {
  std::string_view name;
  std::vector<int64_t> dims;
  int32_t type = kUndefined;
  bool has_raw = false;
  Bytes raw;
  Runs floats, ints, longs, doubles, unsigned_longs;
  std::vector<std::string_view> strings;
  bool external = false;
  bool segmented = false;
  std::vector<std::pair<std::string_view, std::string_view>> external_keys;
};

struct Dimension {
  std::optional<int64_t> value;  // nullopt if the size is open; some exporters write that as -1
  std::string_view name;         // "" if it has none
};

struct ValueInfo {
  enum class Kind : uint8_t { kNone, kTensor, kOther };  // kOther: sequences, maps, optionals
  std::string_view name;
  Kind kind = Kind::kNone;
  int32_t type = kUndefined;
  bool has_shape = false;
  std::vector<Dimension> dims;
};

struct Graph;

// ONNX's number for the kind of an attribute, which determines the field that holds its value.
enum AttributeKind : int32_t {
  kNoKind = 0,
  kReal = 1,
  kWhole = 2,
  kText = 3,
  kTensorKind = 4,
  kGraphKind = 5,
  kReals = 6,
  kWholes = 7,
  kTexts = 8
};

struct Attribute {
  std::string_view name;
  int32_t kind = kNoKind;  // very old files have kNoKind
  int64_t i = 0;
  float f = 0.0f;
  std::string_view s;
  std::string_view reference;  // name of an attribute of the enclosing function
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string_view> strings;
  std::shared_ptr<Tensor> tensor;
  std::shared_ptr<Graph> graph;
  bool other = false;  // true for sparse tensors, types, lists of graphs and lists of tensors
};

struct Node {
  std::string_view name, type, domain, overload;
  std::vector<std::string_view> inputs, outputs;  // "" is absent
  std::vector<Attribute> attributes;

  const Attribute* find(std::string_view attribute) const;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs, outputs, values;
  bool sparse = false;  // has sparse initialisers
};

struct Opset {
  std::string_view domain;
  int64_t version = 0;
};

struct Function {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<Node> nodes;
  std::vector<Opset> opsets;
  std::vector<Attribute> defaults;
};

struct Model {
  int64_t ir_version = 0;
  std::string_view producer;
  std::vector<Opset> opsets;
  std::vector<Function> functions;
  bool has_graph = false;
  Graph graph;
};

namespace limits {
inline constexpr int kMaxMessages = 500'000;        // protobuf messages of all kinds in a file
inline constexpr int kMaxDepth = 16;                // nesting depth of graphs in attributes
inline constexpr int64_t kMaxNumbers = 16'000'000;  // numbers in attributes and dimensions
}  // namespace limits

// True if the bytes (untrusted) are an ONNX model.
bool is_onnx(Bytes bytes);

// Parses a file. Reports [onnx-invalid] and [onnx-limit] at `where`.
Result<Model> read_messages(Bytes bytes, const Location& where, Diagnostics& diags);

}  // namespace aotc::frontends::onnx
