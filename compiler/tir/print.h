// SPDX-License-Identifier: Apache-2.0
// Text of single statements, for messages of the verifier and the interpreter. The one thing to
// know: names come out as print() gives them, so the text can be found in the printed function.
#pragma once

#include <string>
#include <string_view>

#include "tir/tir.h"

namespace aotc::tir {

// First line of the statement as print() writes it, without indentation; a long one is cut.
// Empty if the statement is not part of the function.
std::string statement_text(const Function& function, const Stmt* statement);

// A name as print() writes it where it is the only one: other characters become '_', and no word of the language.
std::string text_identifier(std::string_view name);

// Words of the text form that are no names.
bool is_text_keyword(std::string_view word);

// Binding strength of the text form, C's; higher binds tighter. min and max are calls: 12.
int strength_of(BinaryOp op);

}  // namespace aotc::tir
