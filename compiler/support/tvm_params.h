// SPDX-License-Identifier: Apache-2.0
// Reads and writes TVM's parameters file (`save_param_dict`, `*.params`): named arrays, little endian.
// read_params checks that the file is complete and that every array has as many bytes as its type and shape need. It
// does not check that the arrays fit a graph. docs/graph-json.md describes the format.
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
  uint8_t code = 0;  // kInt ... kBool below; other codes are preserved but not interpreted
  uint8_t bits = 8;
  uint16_t lanes = 1;

  static constexpr uint8_t kInt = 0, kUInt = 1, kFloat = 2, kHandle = 3, kBfloat = 4, kBool = 6;

  // The corresponding type of aotc; nullopt if aotc does not compute with this type.
  std::optional<DType> dtype() const;
  static DataType of(DType dtype);
  // TVM's name of the type: "int8", "float32x4".
  std::string str() const;
  bool operator==(const DataType&) const = default;
};

// Parses TVM's name of a type: "int8", "uint1", "bool", "float32x4"; nullopt for any other text.
std::optional<DataType> data_type_from_name(std::string_view name);

struct Param {
  std::string name;  // any bytes
  DataType type;
  std::vector<int64_t> shape;  // each >= 0
  std::vector<uint8_t> bytes;  // row-major, little endian
};

// Returns all arrays of a parameters file, in file order. Reports [graph-params] with the byte offset of the first
// error. Allocates at most a small multiple of the size of `bytes`, even for malicious files.
Result<std::vector<Param>> read_params(std::span<const uint8_t> bytes, const std::string& file, Diagnostics& diags);

// Returns the same bytes that TVM writes for these arrays in this order.
std::vector<uint8_t> write_params(std::span<const Param> params);

}  // namespace aotc::tvm
