// SPDX-License-Identifier: Apache-2.0
// Which operators other runtimes of .tflite files have, by the names of the format. The one thing to know:
// an operator of theirs may lack types that aotc has, and the other way round; only names are compared.
#pragma once

#include <span>
#include <string_view>

namespace aotc::driver {

// TensorFlow Lite Micro's resolver (August 2026), without custom operators; in alphabetical order.
std::span<const std::string_view> tflm_builtins();
// Its custom operators.
std::span<const std::string_view> tflm_custom_operators();
// LiteRT's default resolver (August 2026) has the builtin operator.
bool litert_has(std::string_view builtin);

}  // namespace aotc::driver
