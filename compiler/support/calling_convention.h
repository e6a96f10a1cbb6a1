// SPDX-License-Identifier: Apache-2.0
// CallingConvention: how a C function of an operator, emitted by aotc or supplied by the user, is called.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace aotc {

enum class CallingConvention : uint8_t {
  kPlain,     // int32_t f(const T *in, ..., T *out): typed pointers, called directly
  kUnpacked,  // the same with pointers to non-const: TVM's unpacked operators, only for functions of the user
  kPacked,    // TVM's packed functions: every argument is a DLTensor; called directly
  kRegistry,  // packed, and found by name in the C runtime's registry
};

// "plain", "unpacked", "packed", "registry": the spelling in options, archives and graphs.
std::string_view name_of(CallingConvention convention);

// All spellings, for attributes in text (graph/attributes.h).
std::span<const std::string_view> enum_names(CallingConvention);

// The convention of this spelling; nullopt if there is none.
std::optional<CallingConvention> calling_convention_from(std::string_view name);

}  // namespace aotc
