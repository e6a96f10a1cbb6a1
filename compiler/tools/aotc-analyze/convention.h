// SPDX-License-Identifier: Apache-2.0
// Determines which calling convention of docs/graph-operators.md a function has, and merges the functions of several
// sources into one list of symbols.
#pragma once

#include <string>

#include "signature.h"

namespace aotc::analyze {

// Sets `convention`, or `why` if the function has none of the conventions.
void classify(Function& function);

// Removes functions from the findings if another function of the same symbol replaces them. A definition in any source
// replaces a declaration, and a strong definition replaces a weak one. If there are only declarations, the first one
// stays. Two definitions of equal rank both stay, because the linker's choice is unknown. Warns [operator-declaration]
// if a declaration contradicts the definition. A static function is a symbol of its own source only.
void merge_symbols(Findings& findings);

// Returns "int32_t add(const int8_t *a, int8_t *out)".
std::string prototype_of(const Function& function);

}  // namespace aotc::analyze
