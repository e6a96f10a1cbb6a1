// SPDX-License-Identifier: Apache-2.0
// The --tir mode of aotc-opt.
#pragma once

#include <string>

#include "support/diagnostics.h"

namespace aotc {

// Parses and verifies one TIR function and gives its printed form. Reports what those report.
Result<std::string> run_tir(const std::string& text, const std::string& file, Diagnostics& diags);

}  // namespace aotc
