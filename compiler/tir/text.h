// SPDX-License-Identifier: Apache-2.0
// The text form of TIR for other stages: functions in the text of a program (plan/text.h), and names and statements in
// messages. They are those of print(), so a reader can search the printed function for the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tir/tir.h"

namespace aotc::tir {

// Parses consecutive functions from byte `begin` of the text on; the kernels of a function precede it. The functions
// may have scalar parameters, unlike a function in its own file, which parse() reads. Reports [tir-parse].
Result<std::vector<FunctionPtr>> parse_functions(const std::string& text, size_t begin, const std::string& file,
                                                 Diagnostics& diags);

// The first line of the statement as print() writes it, without indentation. A long line is cut.
// Empty if the statement is not part of the function.
std::string statement_text(const Function& function, const Stmt* statement);

// A valid name as print() writes it if it is unique: invalid characters become '_', and a keyword is changed.
std::string text_identifier(std::string_view name);

}  // namespace aotc::tir
