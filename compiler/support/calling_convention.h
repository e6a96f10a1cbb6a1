// SPDX-License-Identifier: Apache-2.0
// CallingConvention: how generated code calls the C function of an operator, which aotc emits or the user supplies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace aotc {

enum class CallingConvention : uint8_t {
  kPlain,     // int32_t f(const T *in, ..., T *out): typed pointers, called directly
  kUnpacked,  // as kPlain without const: TVM's unpacked operators; only for the user's functions
  kPacked,    // TVM's packed functions: every argument is a DLTensor; called directly
  kRegistry,  // as kPacked, but found by name in the C runtime's registry
};

// Returns "plain", "unpacked", "packed" or "registry": the name in options, archives and graphs.
std::string_view name_of(CallingConvention convention);

// Returns all names, for attributes in the text form (graph/attributes.h).
std::span<const std::string_view> enum_names(CallingConvention);

// Returns the convention with this name; nullopt if there is none.
std::optional<CallingConvention> calling_convention_from(std::string_view name);

}  // namespace aotc
