// SPDX-License-Identifier: Apache-2.0
// The mode --tir of aotc-opt: reads one TIR function and prints it.
#pragma once

#include <string>

#include "support/diagnostics.h"

namespace aotc {

// Parses and verifies one TIR function and returns its text form. Reports the errors of tir::parse and tir::verify.
Result<std::string> run_tir(const std::string& text, const std::string& file, Diagnostics& diags);

}  // namespace aotc
