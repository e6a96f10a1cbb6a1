// SPDX-License-Identifier: Apache-2.0
// Implementation: a microkernel as the text of one self-saving asm statement over the kernel's arguments in registers,
// or as C that calls intrinsics. It leaves the same bytes as the kernel's meaning, which is printed beside it for
// compilers and cores that fail `condition`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "machine/timing.h"
#include "support/kernel_form.h"
#include "tir/tir.h"

namespace aotc::cores {

// What is known of an argument where the instructions of a call are counted.
struct CountArgument {
  bool pointer = false;
  int64_t value = 0;                    // of a scalar
  std::span<const uint8_t> table = {};  // what a pointer points to, as far as it is known
};

// Bytes of the longest table that describes shapes. Longer tables are streams of weights, whose words decide few
// branches.
inline constexpr size_t kShortTable = 256;

struct Implementation {
  std::string condition;           // of the C preprocessor: when the text assembles and runs
  std::string family = {};         // the same: whether this is a core of the kernel's family; empty: no such question
  std::vector<std::string> lines;  // instructions and labels, each one line; notes and unwinding
  // In the place of `lines`: statements of C with intrinsics of `header`. They may change the kernel's parameters,
  // whose names are those of its meaning.
  std::vector<std::string> body = {};
  std::string header = {};             // "riscv_vector.h"
  std::vector<std::string> arguments;  // registers that take the kernel's arguments, and may be changed
  std::vector<std::string> clobbers;   // besides those, the flags and memory
  int stack_bytes = 0;                 // most that the text pushes
  // Bytes that the function's address must be a multiple of, where that is more than every compiler gives: ADR counts
  // from a multiple of 4, and the assembler only knows the place within a section, which may start at any multiple
  // of 2.
  int function_alignment = 0;
  // Instructions of one call, nothing where unknown data decides.
  std::function<std::optional<int64_t>(const Implementation& made, const std::vector<CountArgument>& arguments)> count;
  // The same in cycles.
  std::function<std::optional<double>(const Implementation& made, const std::vector<CountArgument>& arguments,
                                      const machine::Timing& timing)>
      cycles;
};

// A line that says something to readers, behind "@ ".
inline bool is_comment(const std::string& line) { return line.starts_with("@ "); }
// Bytes of the string literal in which C holds the lines. Compilers need not take more than kMostLiteral, and warn.
inline constexpr size_t kMostLiteral = 4095;
inline size_t literal_bytes(const std::vector<std::string>& lines) {
  constexpr size_t kNewline = 1;
  size_t bytes = 0;
  for (const std::string& line : lines)
    if (!is_comment(line)) bytes += line.size() + kNewline;
  return bytes;
}
// A line that tells debuggers of the stack: it assembles only where the compiler describes its own.
inline bool is_unwinding(const std::string& line) { return line.starts_with(".cfi_"); }

// nullopt if no CPU has the kernel, or has it in another form only. Assembly includes intrinsics.
std::optional<Implementation> implementation_of(const tir::Kernel& kernel, KernelForm form = KernelForm::kAssembly);

// Families of kernels that some CPU has in assembly.
std::vector<std::string> kernel_families();

}  // namespace aotc::cores
