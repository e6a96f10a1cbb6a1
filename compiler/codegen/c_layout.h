// SPDX-License-Identifier: Apache-2.0
// Wraps lines of emitted C at kCColumns, unless a single word is longer. A line is broken only after a comma, an
// operator or an opening bracket, and never inside a literal or a directive, so its meaning stays the same.
#pragma once

#include <string>
#include <string_view>

namespace aotc::codegen {

inline constexpr size_t kCColumns = 100;

// Wraps one line of code, or one line that contains only a comment; the result has no '\n' at its end. Continuation
// lines are indented by 4 more columns, or by 8 more if the line opens a block.
std::string fold_line(std::string_view line);

// Wraps every line of a text. The text may begin in the middle of a comment.
std::string fold_lines(std::string_view text);

// Wraps a prototype that is on one line. Parameters on further lines start below the first parameter,
// or at column 8 if one of them does not fit there.
std::string fold_prototype(const std::string& prototype);

}  // namespace aotc::codegen
