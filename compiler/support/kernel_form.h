// SPDX-License-Identifier: Apache-2.0
// KernelForm: the form that inner loops have in the emitted C.
#pragma once

#include <cstdint>

namespace aotc {

enum class KernelForm : uint8_t {
  kC,           // C without extensions
  kIntrinsics,  // C that calls ACLE intrinsics if the compiler has them
  kAssembly,    // assembly for compilers that understand it, intrinsics for others
};

}  // namespace aotc
