// SPDX-License-Identifier: Apache-2.0
#include "target/implementation.h"

#include "target/arm/dsp_kernels.h"
#include "target/arm/mve_kernels.h"

namespace aotc::target {

namespace {

struct Entry {
  const char* family;
  Implementation (*make)(const tir::Kernel&);
};

constexpr Entry kTable[] = {
    {"gemm_halves", arm::gemm_halves},
    {"gemm_nibbles", arm::gemm_nibbles},
    {"gemm_pairs", arm::gemm_pairs},
    {"gemv_halves", arm::gemv_halves},
    {"svdf_time", arm::svdf_time},
    {"gemv_pairs", arm::gemv_pairs},
    {"gemm_sums", arm::gemm_sums},
    {"gemv_sums", arm::gemv_sums},
    {"gemm_words", arm::gemm_words},
    {"gemv_words", arm::gemv_words},
    {"mve_fill", arm::mve_fill},
    {"mve_gemm", arm::mve_gemm},
    {"mve_gemv", arm::mve_gemv},
    {"mve_quads", arm::mve_quads},
    {"mve_rows", arm::mve_rows},
    {"mve_sum", arm::mve_sum},
    {"mve_weave", arm::mve_weave},
    {"mve_windows", arm::mve_windows},
    {"pack_halves", arm::pack_halves},
    {"pack_halves_run", arm::pack_halves_run},
    {"pack_pixels", arm::pack_pixels},
    {"pack_run", arm::pack_run},
    {"dsp_sum", arm::dsp_sum},
    {"dw_plane", arm::dw_plane},
    {"dw_column", arm::dw_column},
    {"dw_column_nibbles", arm::dw_column},
    {"winograd_rows", arm::winograd_rows},
    {"winograd_tile", arm::winograd_tile},
    {"winograd_pairs", arm::winograd_pairs},
};

}  // namespace

std::optional<Implementation> implementation_of(const tir::Kernel& kernel) {
  for (const Entry& e : kTable)
    if (kernel.family == e.family) return e.make(kernel);
  return std::nullopt;
}

std::vector<std::string> families() {
  std::vector<std::string> out;
  for (const Entry& e : kTable) out.emplace_back(e.family);
  return out;
}

}  // namespace aotc::target
