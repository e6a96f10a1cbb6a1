// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_data.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "codegen/c_function.h"
#include "support/text.h"

namespace aotc::codegen {

namespace {

template <typename T>
void numbers(std::string& s, const std::vector<uint8_t>& bytes) {
  size_t count = bytes.size() / sizeof(T);
  std::string line = "   ";
  for (size_t i = 0; i < count; ++i) {
    T v;
    std::memcpy(&v, bytes.data() + i * sizeof(T), sizeof(T));
    std::string text;
    if constexpr (std::is_floating_point_v<T>) {
      text = c_float(v, sizeof(T) == 4 ? DType::kF32 : DType::kF64);
    } else if constexpr (sizeof(T) == 8) {
      text = v == INT64_MIN ? "(-INT64_C(9223372036854775807) - 1)" : fmt::format("INT64_C({})", v);
    } else if (static_cast<int64_t>(v) == INT32_MIN) {
      text = "(-2147483647 - 1)";
    } else {
      text = fmt::format("{}", v);
    }
    if (line.size() + text.size() + 2 > 100) {
      s += line + "\n";
      line = "   ";
    }
    line += " " + text + ",";
  }
  if (count == 0) line += " 0,";
  s += line + "\n";
}

}  // namespace

void print_numbers(std::string& s, const ops::Constant& c) {
  switch (c.dtype) {
    case DType::kBool:
    case DType::kU8: return numbers<uint8_t>(s, c.bytes);
    case DType::kI8: return numbers<int8_t>(s, c.bytes);
    case DType::kI16: return numbers<int16_t>(s, c.bytes);
    case DType::kU16: return numbers<uint16_t>(s, c.bytes);
    case DType::kI32: return numbers<int32_t>(s, c.bytes);
    case DType::kU32: return numbers<uint32_t>(s, c.bytes);
    case DType::kI64: return numbers<int64_t>(s, c.bytes);
    case DType::kF32: return numbers<float>(s, c.bytes);
    case DType::kF64: return numbers<double>(s, c.bytes);
  }
}

std::string constant_pool_header(const plan::Program& program, const CodegenOptions& options) {
  std::string up = upper(options.prefix), s;
  const plan::Pool& pool = program.pools[static_cast<size_t>(program.constant_pool)];
  std::vector<uint8_t> bytes(static_cast<size_t>(pool.bytes), 0);
  for (const plan::ProgramConstant& c : program.constants)
    std::copy(c.data.bytes.begin(), c.data.bytes.end(),
              bytes.begin() + static_cast<ptrdiff_t>(c.offset));
  s += fmt::format("#ifndef {0}_CONSTANTS_H\n#define {0}_CONSTANTS_H\n\n", up);
  s += fmt::format("/* Initialises {0}_POOL_{1}_SIZE bytes, aligned to {0}_ARENA_ALIGN, on a\n"
                   " * little-endian machine. */\n#define {0}_CONSTANT_POOL_DATA",
                   up, upper(pool.name));
  if (bytes.empty()) s += " 0";
  for (size_t i = 0; i < bytes.size(); ++i)
    s += fmt::format("{}{}", i % 24 == 0 ? (i > 0 ? ", \\\n    " : " \\\n    ") : ", ", bytes[i]);
  return s + "\n\n#endif\n";
}

}  // namespace aotc::codegen
