// SPDX-License-Identifier: Apache-2.0
#include "support/dtype.h"

#include <limits>

namespace aotc {

namespace {

struct Names {
  DType type;
  std::string_view text;
  std::string_view c;
};

constexpr Names kNames[] = {
    {DType::kBool, "bool", "uint8_t"}, {DType::kI8, "i8", "int8_t"},     {DType::kU8, "u8", "uint8_t"},
    {DType::kI16, "i16", "int16_t"},   {DType::kU16, "u16", "uint16_t"}, {DType::kI32, "i32", "int32_t"},
    {DType::kU32, "u32", "uint32_t"},  {DType::kI64, "i64", "int64_t"},  {DType::kF32, "f32", "float"},
    {DType::kF64, "f64", "double"},    {DType::kI4, "i4", "int8_t"},
};

}  // namespace

std::string_view name_of(DType t) { return kNames[static_cast<int>(t)].text; }
std::string_view c_type_of(DType t) { return kNames[static_cast<int>(t)].c; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Names& n : kNames)
    if (n.text == name) return n.type;
  return std::nullopt;
}

IntRange int_range(DType t) {
  switch (t) {
    case DType::kBool: return {0, 1};
    case DType::kI4: return {-8, 7};
    case DType::kI8: return {-128, 127};
    case DType::kU8: return {0, 255};
    case DType::kI16: return {-32768, 32767};
    case DType::kU16: return {0, 65535};
    case DType::kI32: return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case DType::kU32: return {0, std::numeric_limits<uint32_t>::max()};
    default: return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
}

}  // namespace aotc
