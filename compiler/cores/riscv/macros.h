// SPDX-License-Identifier: Apache-2.0
// The macros in the texts of our kernels, as the assembler writes them out.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aotc::cores::riscv {

// Labels and instructions of these lines, in order, without macros, directives and notes. A parameter is written as in
// a C string, "\\\\o".
std::vector<std::string> without_macros(const std::vector<std::string>& lines);

std::vector<std::string> split(std::string_view text, char at);

// "lw", "a4,8(a1)"; nothing behind a word that stands alone.
std::pair<std::string, std::string> in_two(const std::string& line);

}  // namespace aotc::cores::riscv
