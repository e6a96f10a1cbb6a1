#include "target/implementation.h"

#include "target/arm/dsp_kernels.h"

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
      {"gemm_words", arm::gemm_words},
      {"gemv_words", arm::gemv_words},
      {"pack_pixels", arm::pack_pixels},
      {"pack_run", arm::pack_run},
      {"winograd_rows", arm::winograd_rows},
      {"winograd_tile", arm::winograd_tile},
      {"winograd_pairs", arm::winograd_pairs},
  };
  for (const Entry& e : kTable)
    if (kernel.family == e.family) return e.make(kernel);
  return std::nullopt;
}

}  // namespace aotc::target
