#include "target/implementation.h"

#include "target/arm/dsp_kernels.h"
#include "target/arm/mve_kernels.h"

namespace aotc::target {

std::optional<Implementation> implementation_of(const tir::Kernel& kernel) {
  using Make = Implementation (*)(const tir::Kernel&);
  struct Entry {
    const char* family;
    Make make;
  };
  static constexpr Entry kTable[] = {
      {"gemm_pairs", arm::gemm_pairs},
      {"gemv_pairs", arm::gemv_pairs},
      {"mve_fill", arm::mve_fill},
      {"mve_gemm", arm::mve_gemm},
      {"mve_gemv", arm::mve_gemv},
      {"mve_quads", arm::mve_quads},
      {"mve_rows", arm::mve_rows},
      {"mve_sum", arm::mve_sum},
      {"mve_weave", arm::mve_weave},
      {"mve_windows", arm::mve_windows},
      {"pack_pixels", arm::pack_pixels},
      {"pack_run", arm::pack_run},
      {"dw_plane", arm::dw_plane},
      {"dw_column", arm::dw_column},
  };
  for (const Entry& e : kTable)
    if (kernel.family == e.family) return e.make(kernel);
  return std::nullopt;
}

}  // namespace aotc::target
