// SPDX-License-Identifier: Apache-2.0
// TVM's parameters file (`save_param_dict`, `*.params`): named arrays, little endian. The one thing
// to know: what is read is not yet trusted to fit a graph; only that the file is whole and that
// every array has as many bytes as its type and shape say. docs/graph-json.md describes the format.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/diagnostics.h"
#include "support/dtype.h"
#include "support/result.h"

namespace aotc::tvm {

// DLPack's description of an element type.
struct DataType {
  uint8_t code = 0;  // kInt and so on below; others exist and are only carried
  uint8_t bits = 8;
  uint16_t lanes = 1;

  static constexpr uint8_t kInt = 0, kUInt = 1, kFloat = 2, kHandle = 3, kBfloat = 4, kBool = 6;

  // The type aotc computes with, if there is one.
  std::optional<DType> dtype() const;
  static DataType of(DType dtype);
  // "int8", "float32x4", as TVM spells it.
  std::string str() const;
  bool operator==(const DataType&) const = default;
};

// "int8", "uint1", "bool", "float32x4": TVM's spelling; nothing if it is none.
std::optional<DataType> data_type_from_name(std::string_view name);

struct Param {
  std::string name;  // any bytes
  DataType type;
  std::vector<int64_t> shape;  // each >= 0
  std::vector<uint8_t> bytes;  // row-major, little endian
};

// All arrays of a parameters file in its order. Reports [graph-params] with the byte offset of the
// first damage. Allocates no more than a small multiple of `bytes`, whatever they say.
Result<std::vector<Param>> read_params(std::span<const uint8_t> bytes, const std::string& file,
                                       Diagnostics& diags);

// The same bytes that TVM writes for these arrays in this order.
std::vector<uint8_t> write_params(std::span<const Param> params);

}  // namespace aotc::tvm
