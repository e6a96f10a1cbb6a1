// SPDX-License-Identifier: Apache-2.0
// What the texts of kernels share.
#pragma once

#include <cstdint>
#include <string_view>

#include "tir/builder.h"

namespace aotc::target::riscv {

inline constexpr int kWord = 4;
inline constexpr const char* kSaved[] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11"};

inline int64_t parameter_of(const tir::Kernel& kernel, std::string_view name) {
  for (const auto& [key, value] : kernel.parameters)
    if (key == name) return value;
  return 0;
}

}  // namespace aotc::target::riscv
