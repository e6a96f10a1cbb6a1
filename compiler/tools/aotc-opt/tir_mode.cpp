// SPDX-License-Identifier: Apache-2.0
#include "tools/aotc-opt/tir_mode.h"

#include "tir/tir.h"

namespace aotc {

Result<std::string> run_tir(const std::string& text, const std::string& file, Diagnostics& diags) {
  auto function = tir::parse(text, file, diags);
  if (!function || !tir::verify(**function, diags)) return kFailure;
  return tir::print(**function);
}

}  // namespace aotc
