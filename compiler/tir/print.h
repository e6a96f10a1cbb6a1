// SPDX-License-Identifier: Apache-2.0
// Texts of statements and names for messages of the verifier and the interpreter. Names equal those of print(), so the
// text can be found in the printed function.
#pragma once

#include <string>
#include <string_view>

#include "tir/tir.h"

namespace aotc::tir {

// First line of the statement as print() writes it, without indentation; a long one is cut.
// Empty if the statement is not part of the function.
std::string statement_text(const Function& function, const Stmt* statement);

// A name as print() writes it if it is unique: other characters become '_', and keywords are avoided.
std::string text_identifier(std::string_view name);

// True for keywords of the text form.
bool is_text_keyword(std::string_view word);

// Binding strength of the text form, C's; higher binds tighter. min and max are calls: 12.
int strength_of(BinaryOp op);

}  // namespace aotc::tir
