// SPDX-License-Identifier: Apache-2.0
// Classifies functions by the calling conventions of docs/graph-operators.md, and merges the functions of several
// sources into one list of symbols.
#pragma once

#include <string>

#include "signature.h"

namespace aotc::analyze {

// Sets `convention` and, for kOther, `why`.
void classify(Function& function);

// One entry per symbol: a definition in any source replaces a declaration, a strong definition a weak one; of several
// declarations the first stays. Two definitions of equal rank both stay, because the linker's choice is unknown. A
// declaration that contradicts the definition is a warning [operator-declaration]. Static functions are symbols of
// their source alone.
void merge_symbols(Findings& findings);

// "int32_t add(const int8_t *a, int8_t *out)".
std::string prototype_of(const Function& function);

}  // namespace aotc::analyze
