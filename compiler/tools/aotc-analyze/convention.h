// SPDX-License-Identifier: Apache-2.0
// Which calling convention a function follows, by the rules of docs/graph-operators.md, and how the
// functions of several sources become one list of symbols.
#pragma once

#include <string>

#include "signature.h"

namespace aotc::analyze {

// Sets `convention` and, for kOther, `why`.
void classify(Function& function);

// One entry per symbol: a declaration gives way to a definition in any source, a weak definition to
// a strong one; of declarations alone the first stays. Two definitions of equal rank both stay:
// which one a linker takes is not known. A declaration that contradicts the definition is a warning
// [operator-declaration]. Static functions are symbols of their source alone.
void merge_symbols(Findings& findings);

// "int32_t add(const int8_t *a, int8_t *out)".
std::string prototype_of(const Function& function);

}  // namespace aotc::analyze
