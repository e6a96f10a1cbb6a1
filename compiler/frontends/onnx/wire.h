// SPDX-License-Identifier: Apache-2.0
// WireReader: reads the fields of one Protocol Buffers message. A field has a number and a value, which is an integer
// or a run of bytes; a nested message is a run of bytes. Results are views of the untrusted bytes. A field that exceeds
// the bytes ends the reading, and `damaged` is then true.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace aotc::frontends::onnx {

using Bytes = std::span<const uint8_t>;

// How a field is stored (its wire type). Deprecated types (groups) are treated as damage.
enum class Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Field {
  uint32_t number = 0;
  Wire wire = Wire::kVarint;
  uint64_t value = 0;  // of an integer; the bits if the wire type is kFixed32 or kFixed64
  Bytes bytes;         // the stored bytes of the value

  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), wire == Wire::kBytes ? bytes.size() : 0};
  }
  int64_t integer() const { return static_cast<int64_t>(value); }
  float real() const {
    auto bits = static_cast<uint32_t>(value);
    float out;
    std::memcpy(&out, &bits, sizeof out);
    return out;
  }
};

class WireReader {
 public:
  explicit WireReader(Bytes bytes) : bytes_(bytes) {}

  // Reads the next field; false at the end or at a damaged field.
  bool next(Field& field);
  // Reads the next number of a packed list; false at its end.
  bool next_varint(uint64_t& value);
  bool damaged() const { return damaged_; }

 private:
  bool fixed(size_t count, Field& field);

  Bytes bytes_;
  size_t at_ = 0;
  bool damaged_ = false;
};

}  // namespace aotc::frontends::onnx
