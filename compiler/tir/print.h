// SPDX-License-Identifier: Apache-2.0
// Returns the text of statements and names for messages of the verifier and the interpreter. The names are those of
// print(), so a reader can search the printed function for the text.
#pragma once

#include <string>
#include <string_view>

#include "tir/tir.h"

namespace aotc::tir {

// The first line of the statement as print() writes it, without indentation. A long line is cut.
// Empty if the statement is not part of the function.
std::string statement_text(const Function& function, const Stmt* statement);

// A valid name as print() writes it if it is unique: invalid characters become '_', and a keyword is changed.
std::string text_identifier(std::string_view name);

// True for keywords of the text form.
bool is_text_keyword(std::string_view word);

// The precedence of a binary operator in the text form, which is C's; a higher number binds tighter. min and max, which
// print as calls, have 12.
int strength_of(BinaryOp op);

}  // namespace aotc::tir
