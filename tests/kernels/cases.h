// SPDX-License-Identifier: Apache-2.0
// Calls of microkernels to be compared: a file cases_*.cpp for each family of kernels. The one thing to
// know: data is arbitrary, except where a meaning would overflow on what no lowering ever passes (the
// offsets of requantisation).
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tir/tir.h"

namespace aotc::cores::arm {}

namespace aotc::tests {

namespace arm = cores::arm;  // whose kernels these are

enum class Pattern { kRandom, kLeast, kMost, kExtremes };
inline constexpr Pattern kPatterns[] = {Pattern::kRandom, Pattern::kLeast, Pattern::kMost, Pattern::kExtremes};

struct Buffer {
  std::vector<uint8_t> bytes;
  uint32_t from = 0;  // the argument points there
};

struct KernelCase {
  tir::KernelPtr kernel;
  std::vector<Buffer> buffers;
  std::vector<int32_t> scalars;
};

// Makes the data of cases.
class Data {
 public:
  explicit Data(Pattern pattern, uint32_t seed) : pattern_(pattern), random_(seed) {}
  // Bytes of the pattern: anything, -128, 127, or one of both.
  Buffer bytes(int64_t count, uint32_t from = 0);
  // The same for words of two halves.
  Buffer words(int64_t count);
  void add_words(std::vector<int32_t>& to, int64_t count);
  // A multiplier, an offset and, with `sign`, its third word.
  void add_line(std::vector<int32_t>& to, bool sign);
  // Without a shift: the bits of a float32 and a zero point.
  void add_line(std::vector<int32_t>& to, bool sign, int shift);

 private:
  int32_t word();
  Pattern pattern_;
  std::mt19937 random_;
};

Buffer table(const std::vector<int32_t>& words);

void add_gemm_cases(std::vector<KernelCase>& to);
void add_generated_cases(std::vector<KernelCase>& to);
void add_svdf_cases(std::vector<KernelCase>& to);
void add_pack_cases(std::vector<KernelCase>& to);
void add_depthwise_cases(std::vector<KernelCase>& to);
void add_elementwise_cases(std::vector<KernelCase>& to);
void add_winograd_cases(std::vector<KernelCase>& to);
void add_tree_cases(std::vector<KernelCase>& to);
void add_triple_cases(std::vector<KernelCase>& to);
// Those of all families for Thumb.
std::vector<KernelCase> all_kernel_cases();

void add_riscv_triple_cases(std::vector<KernelCase>& to);
void add_riscv_winograd_cases(std::vector<KernelCase>& to);
// Those of all families for RV32.
std::vector<KernelCase> riscv_kernel_cases();

}  // namespace aotc::tests
