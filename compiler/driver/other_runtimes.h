// SPDX-License-Identifier: Apache-2.0
// Lists the operators that other runtimes of .tflite files support, by their names in the .tflite format. Only names
// are listed: the supported types of an operator may differ.
#pragma once

#include <span>
#include <string_view>

namespace aotc::driver {

// TensorFlow Lite Micro's resolver (August 2026), without custom operators; in alphabetical order.
std::span<const std::string_view> tflm_builtins();
// TensorFlow Lite Micro's custom operators.
std::span<const std::string_view> tflm_custom_operators();
// True if LiteRT's default resolver (August 2026) has the builtin operator.
bool litert_has(std::string_view builtin);

}  // namespace aotc::driver
