// SPDX-License-Identifier: Apache-2.0
// Names of TFLite's builtin operators as the format spells them ("CONV_2D"), for messages. The table includes operators
// that aotc does not support. A code that is not in the table gets a name with its number.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace aotc::frontends {

inline constexpr int kTfliteCustom = 32, kTfliteDequantize = 6;
inline constexpr int kTfliteCallOnce = 129, kTfliteVarHandle = 142, kTfliteReadVariable = 143,
                     kTfliteAssignVariable = 144;
inline constexpr int kTfliteIf = 118, kTfliteWhile = 119, kTfliteComposite = 206;

// The builtin code of the operator with this name; nullopt if there is none.
std::optional<int> tflite_builtin_code(std::string_view name);

// All known names; the index is the builtin code.
std::span<const std::string_view> tflite_builtin_names();

// "CONV_2D"; "BUILTIN_4711" for a code that is not in the table.
std::string tflite_builtin_name(int code);

}  // namespace aotc::frontends
