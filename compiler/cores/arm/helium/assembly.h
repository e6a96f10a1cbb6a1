// SPDX-License-Identifier: Apache-2.0
// Kernels in assembly for cores with the vector extension, by family. What each does, and what its
// arguments are, is said by its meaning in cores/arm/helium/gemm.cpp and elementwise.cpp.
#pragma once

#include "cores/implementation.h"

namespace aotc::cores::arm {

Implementation mve_average(const tir::Kernel& kernel);
Implementation mve_columns(const tir::Kernel& kernel);
Implementation mve_gemm(const tir::Kernel& kernel);
Implementation mve_gemv(const tir::Kernel& kernel);
Implementation mve_held(const tir::Kernel& kernel);
Implementation mve_planes(const tir::Kernel& kernel);
Implementation mve_windows(const tir::Kernel& kernel);
Implementation mve_quads(const tir::Kernel& kernel);
Implementation mve_weave(const tir::Kernel& kernel);
Implementation mve_rows(const tir::Kernel& kernel);
Implementation mve_fill(const tir::Kernel& kernel);
Implementation mve_sum(const tir::Kernel& kernel);

}  // namespace aotc::cores::arm
