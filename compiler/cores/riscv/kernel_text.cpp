// SPDX-License-Identifier: Apache-2.0
#include "cores/riscv/kernel_text.h"

#include "cores/riscv/text_count.h"

namespace aotc::cores::riscv {

namespace {

constexpr int kSavedRegisters = 12;
constexpr std::string_view kDefinition = ".macro ";

}  // namespace

int parameter_of(const tir::Kernel& kernel, std::string_view name) {
  for (const auto& [key, value] : kernel.parameters)
    if (key == name) return static_cast<int>(value);
  return 0;
}

void KernelText::save(int frame) {
  frame_ = frame;
  line("addi sp,sp,-{}", frame_);
  line(".cfi_remember_state; .cfi_def_cfa_register sp; .cfi_adjust_cfa_offset {}", frame_);
  for (int i = 0; i < kSavedRegisters; ++i) line("sw s{},{}(sp)", i, kWord * i);
  for (int i = 0; i < kSavedRegisters; ++i) line(".cfi_rel_offset s{}, {}", i, kWord * i);
}

void KernelText::restore() {
  for (int i = 0; i < kSavedRegisters; ++i) line("lw s{},{}(sp)", i, kWord * i);
  line("addi sp,sp,{}", frame_);
  line(".cfi_restore_state");
}

Implementation KernelText::finish() {
  for (size_t i = 0, count = lines_.size(); i < count; ++i)
    if (lines_[i].starts_with(kDefinition)) {
      const std::string name =
          lines_[i].substr(kDefinition.size(), lines_[i].find(' ', kDefinition.size()) - kDefinition.size());
      line(".purgem {}", name);
    }
  Implementation out;
  out.condition = "defined(__GNUC__) && defined(__riscv_mul) && __riscv_xlen == 32 && !defined(__riscv_e)";
  out.family = "defined(__riscv) && __riscv_xlen == 32";
  out.lines = std::move(lines_);
  out.arguments = {"a0", "a1", "a2", "a3"};
  out.clobbers = {"a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3", "t4", "t5", "t6"};
  out.stack_bytes = frame_;
  out.count = count_instructions;
  out.cycles = count_cycles;
  return out;
}

}  // namespace aotc::cores::riscv
