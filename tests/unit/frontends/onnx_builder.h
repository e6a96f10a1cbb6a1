// SPDX-License-Identifier: Apache-2.0
// ONNX files in a few bytes: fields of protocol buffers, and the messages that tests need.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace aotc::onnx_test {

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value > 0x7f; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}
inline std::string number(int field, int64_t value) {
  return varint(static_cast<uint64_t>(field) << 3) + varint(static_cast<uint64_t>(value));
}
inline std::string bytes(int field, const std::string& content) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(content.size()) + content;
}
inline std::string real(int field, float value) {
  std::string out = varint(static_cast<uint64_t>(field) << 3 | 5);
  char raw[4];
  std::memcpy(raw, &value, 4);
  return out.append(raw, 4);
}

// A value of a type and shape; negative dimensions are open, and named "d<number>" below -1; kMinusOne is written as
// -1.
constexpr int64_t kMinusOne = INT64_MIN;
inline std::string value_info(const std::string& name, const std::vector<int64_t>& shape, int type = 1) {
  std::string dims;
  for (int64_t d : shape)
    dims += bytes(1, d >= 0           ? number(1, d)
                     : d == kMinusOne ? number(1, -1)
                     : d == -1        ? std::string()
                                      : bytes(2, "d" + std::to_string(-d)));
  return bytes(1, name) + bytes(2, bytes(1, number(1, type) + bytes(2, dims)));
}

inline std::string tensor(const std::string& name, const std::vector<int64_t>& dims, int type,
                          const std::string& data) {
  std::string out;
  for (int64_t d : dims) out += number(1, d);
  return out + number(2, type) + bytes(8, name) + data;
}
inline std::string raw_floats(const std::vector<float>& values) {
  return bytes(9, std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4));
}
// int64_data, packed.
inline std::string longs(const std::vector<int64_t>& values) {
  std::string all;
  for (int64_t v : values) all += varint(static_cast<uint64_t>(v));
  return bytes(7, all);
}

inline std::string node(const std::string& type, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::string& attributes = "",
                        const std::string& domain = "") {
  std::string out;
  for (const std::string& i : inputs) out += bytes(1, i);
  for (const std::string& o : outputs) out += bytes(2, o);
  return bytes(1, out + bytes(4, type) + (domain.empty() ? "" : bytes(7, domain)) + attributes);
}
inline std::string int_attribute(const std::string& name, int64_t value) {
  return bytes(5, bytes(1, name) + number(3, value) + number(20, 2));
}

// `graph` is nodes (which are fields already), inputs, outputs and constants.
inline std::string input(const std::string& info) { return bytes(11, info); }
inline std::string output(const std::string& info) { return bytes(12, info); }
inline std::string constant(const std::string& t) { return bytes(5, t); }
inline std::vector<uint8_t> model(const std::string& graph, int opset = 17, const std::string& more = "") {
  std::string all = number(1, 8) + bytes(7, graph) + bytes(8, bytes(1, "") + number(2, opset)) + more;
  return {all.begin(), all.end()};
}

}  // namespace aotc::onnx_test
