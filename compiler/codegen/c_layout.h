// SPDX-License-Identifier: Apache-2.0
// Lines of emitted C: none longer than kCColumns, unless one word is. The one thing to know: a line
// is broken at spaces only, behind a comma or an operator, and never inside of a literal or a
// directive, so it means the same.
#pragma once

#include <string>
#include <string_view>

namespace aotc::codegen {

inline constexpr size_t kCColumns = 100;

// One line of code, or of a comment that it holds alone, over as many lines as it takes; without
// '\n' at the end. Lines behind the first are indented by 4 more, by 8 where the line opens a
// block.
std::string fold_line(std::string_view line);

// Every line of a text, which may be in the middle of a comment.
std::string fold_lines(std::string_view text);

// A prototype on one line, over as many lines as it takes. Parameters on further lines start below the first parameter,
// or at column 8 if one of them does not fit there.
std::string fold_prototype(const std::string& prototype);

}  // namespace aotc::codegen
