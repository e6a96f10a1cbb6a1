// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <bit>
#include <cstring>

namespace aotc::tests {

int32_t Data::word() {
  auto half = [&]() -> uint32_t {
    switch (pattern_) {
      case Pattern::kRandom: return random_() & 0xFFFF;
      case Pattern::kLeast: return 0x8000;
      case Pattern::kMost: return 0x7FFF;
      case Pattern::kExtremes: return random_() % 2 == 0 ? 0x8000 : 0x7FFF;
    }
    return 0;
  };
  uint32_t low = half();
  return static_cast<int32_t>(low | half() << 16);
}

Buffer Data::bytes(int64_t count, uint32_t from) {
  Buffer out{{}, from};
  for (int64_t i = 0; i < count + from; ++i) {
    bool most = pattern_ == Pattern::kMost || (pattern_ == Pattern::kExtremes && random_() % 2 == 0);
    out.bytes.push_back(pattern_ == Pattern::kRandom ? static_cast<uint8_t>(random_())
                                                     : static_cast<uint8_t>(most ? 0x7F : 0x80));
  }
  return out;
}

Buffer Data::words(int64_t count) {
  std::vector<int32_t> out;
  add_words(out, count);
  return table(out);
}

void Data::add_words(std::vector<int32_t>& to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to.push_back(word());
}

void Data::add_line(std::vector<int32_t>& to, bool sign) {
  // Sums are of about 32 bits, and what is left of them is shifted by 3: few bits here let outputs take
  // all values, many saturate them. A larger shift would hide how products are rounded.
  bool few = random_() % 4 != 0;
  const int32_t factor = random_() % 4 == 0 ? -1 : 1;  // of channels that are stored negated
  to.push_back(factor * static_cast<int32_t>(random_() >> (few ? 21 : 1)));
  to.push_back(static_cast<int32_t>(random_() >> (few ? 21 : 3)) - (1 << (few ? 10 : 28)));
  if (sign) to.push_back(factor * static_cast<int32_t>(random_() >> (few ? 24 : 14)));
}

void Data::add_line(std::vector<int32_t>& to, bool sign, int shift) {
  if (shift != 0) return add_line(to, sign);
  // Sums of about 32 bits become some tens to some thousands; every fourth is a power of two, with ties.
  float scale = 0x1p-26f * static_cast<float>(1 << random_() % 8);
  if (random_() % 4 != 0) scale *= 1.0f + static_cast<float>(random_() >> 8) * 0x1p-24f;
  if (random_() % 4 == 0) scale = -scale;
  to.push_back(std::bit_cast<int32_t>(scale));
  to.push_back(static_cast<int32_t>(random_() % 256) - 128);
}

Buffer table(const std::vector<int32_t>& words) {
  Buffer out;
  out.bytes.resize(words.size() * 4);
  std::memcpy(out.bytes.data(), words.data(), out.bytes.size());
  return out;
}

std::vector<KernelCase> all_kernel_cases() {
  std::vector<KernelCase> out;
  for (auto add : {add_gemm_cases, add_pack_cases, add_svdf_cases, add_winograd_cases, add_depthwise_cases,
                   add_elementwise_cases, add_tree_cases, add_generated_cases, add_triple_cases})
    add(out);
  return out;
}

std::vector<KernelCase> riscv_kernel_cases() {
  std::vector<KernelCase> out;
  add_riscv_triple_cases(out);
  add_riscv_winograd_cases(out);
  return out;
}

}  // namespace aotc::tests
