// SPDX-License-Identifier: Apache-2.0
// The element types of tensors and loop variables, shared by both IRs, and their C spelling.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace aotc {

// kI4 exists only in Graph IR, for constants. There an element takes one byte; the conversion to TIR packs two elements
// into a byte.
enum class DType : uint8_t { kBool, kI8, kU8, kI16, kU16, kI32, kU32, kI64, kF32, kF64, kI4 };

// Bytes of one element.
constexpr int size_of(DType t) {
  switch (t) {
    case DType::kBool:
    case DType::kI4:
    case DType::kI8:
    case DType::kU8: return 1;
    case DType::kI16:
    case DType::kU16: return 2;
    case DType::kI32:
    case DType::kU32:
    case DType::kF32: return 4;
    case DType::kI64:
    case DType::kF64: return 8;
  }
  return 0;
}

constexpr bool is_float(DType t) { return t == DType::kF32 || t == DType::kF64; }
constexpr bool is_int(DType t) { return !is_float(t) && t != DType::kBool; }

// Returns the range of an integer type; {0, 1} for bool. Must not be called for floats.
struct IntRange {
  int64_t min;
  int64_t max;
};
IntRange int_range(DType t);

// Returns "i8", "f32", "bool": the name in the text form of both IRs.
std::string_view name_of(DType t);
std::optional<DType> dtype_from_name(std::string_view name);
// Returns the type in emitted C: "int8_t", "float". bool is stored as uint8_t.
std::string_view c_type_of(DType t);

}  // namespace aotc
