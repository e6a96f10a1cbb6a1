// SPDX-License-Identifier: Apache-2.0
// Reads Protocol Buffers one level of a message at a time: a message is a list of numbered fields, each a number or a
// run of bytes. Results are views of the untrusted bytes; a field that exceeds them ends the reading with `damaged`.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace aotc::frontends::onnx {

using Bytes = std::span<const uint8_t>;

// How a field is stored. Groups, long deprecated, are treated as damage.
enum class Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Field {
  uint32_t number = 0;
  Wire wire = Wire::kVarint;
  uint64_t value = 0;  // of numbers; fixed ones as their bits
  Bytes bytes;         // what is stored: a number's own bytes, or the run

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

  // The next field; false at the end or at a damaged field.
  bool next(Field& field);
  // The next number of a packed list; false at its end.
  bool next_varint(uint64_t& value);
  bool damaged() const { return damaged_; }

 private:
  bool fixed(size_t count, Field& field);

  Bytes bytes_;
  size_t at_ = 0;
  bool damaged_ = false;
};

}  // namespace aotc::frontends::onnx
