// SPDX-License-Identifier: Apache-2.0
// Protocol buffers, one level of a message at a time: a message is a list of numbered fields, each
// a number or a run of bytes. The one thing to know: nothing is copied and nothing is trusted; what
// a reader gives are views of the bytes, and a field that leaves them ends the reading with
// `damaged`.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace aotc::frontends::onnx {

using Bytes = std::span<const uint8_t>;

// How a field is stored. Groups, which are long deprecated, are damage.
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

  // The next field; false at the end, or where the bytes are no message.
  bool next(Field& field);
  // A number of a packed list.
  bool next_varint(uint64_t& value);
  bool damaged() const { return damaged_; }

 private:
  bool fixed(size_t count, Field& field);

  Bytes bytes_;
  size_t at_ = 0;
  bool damaged_ = false;
};

}  // namespace aotc::frontends::onnx
