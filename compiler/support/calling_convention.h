// SPDX-License-Identifier: Apache-2.0
// How C functions of operators are called: those that aotc writes and those that users give.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace aotc {

enum class CallingConvention : uint8_t {
  kPlain,     // int32_t f(const T *in, ..., T *out): typed pointers, called directly
  kUnpacked,  // the same with pointers to what is not const: TVM's unpacked operators, given by users only
  kPacked,    // TVM's packed functions: every argument is a DLTensor; called directly
  kRegistry,  // packed, and found by name in the C runtime's registry
};

// "plain", "unpacked", "packed", "registry": as options, archives and graphs spell it.
std::string_view name_of(CallingConvention convention);

// All of them, for attributes in text (graph/attributes.h).
std::span<const std::string_view> enum_names(CallingConvention);

// Nothing if it is none of these.
std::optional<CallingConvention> calling_convention_from(std::string_view name);

}  // namespace aotc
