// SPDX-License-Identifier: Apache-2.0
// KernelText: the base of writers of kernels in assembly, with a frame that saves all registers of the caller; and the
// kernels for RV32IM.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cores/implementation.h"
#include "tir/builder.h"

namespace aotc::cores::riscv {

// 0 if the kernel has no parameter of this name.
int parameter_of(const tir::Kernel& kernel, std::string_view name);

class KernelText {
 protected:
  static constexpr int kWord = 4;
  static constexpr int kSavedBytes = 12 * kWord;  // s0 to s11, at the begin of the frame

  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    lines_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  // A frame of so many bytes, a multiple of 16.
  void save(int frame);
  void restore();
  // Arguments are a0 to a3. Macros that the text has defined end with it.
  Implementation finish();

  std::vector<std::string> lines_;

 private:
  int frame_ = 0;
};

// The microkernel for four units in a word (ops/common/quad_kernel.h): one or two words at a time.
Implementation quads_rv32(const tir::Kernel& kernel);

// Microkernels for three pixels in two words (ops/common/triple_kernel.h): eight channels at a time, or
// four.
Implementation triples_rv32(const tir::Kernel& kernel);
// Fills the panel of triples_rv32 (ops/common/triple_pack.h).
Implementation triple_pack_rv32(const tir::Kernel& kernel);

}  // namespace aotc::cores::riscv
