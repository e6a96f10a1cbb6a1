// SPDX-License-Identifier: Apache-2.0
// How libFuzzer changes Model Library Format archives: behind three of four changes the headers of
// the tar get the checksums that belong to them, without which nothing behind them is read.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed);

namespace {

constexpr size_t kBlock = 512, kSizeAt = 124, kSumAt = 148, kMagicAt = 257;

void write_checksum(uint8_t* header) {
  std::memset(header + kSumAt, ' ', 8);
  unsigned sum = 0;
  for (size_t i = 0; i < kBlock; ++i) sum += header[i];
  char text[8];
  std::snprintf(text, sizeof text, "%06o", sum);
  std::memcpy(header + kSumAt, text, 7);
}

size_t size_of_member(const uint8_t* header) {
  size_t size = 0;
  for (size_t i = kSizeAt; i < kSizeAt + 11 && header[i] >= '0' && header[i] <= '7'; ++i)
    size = size * 8 + (header[i] - '0');
  return size;
}

void write_checksums(uint8_t* data, size_t size) {
  for (size_t at = 0; at + kBlock <= size && std::memcmp(data + at + kMagicAt, "ustar", 5) == 0;) {
    write_checksum(data + at);
    size_t member = (size_of_member(data + at) + kBlock - 1) / kBlock * kBlock;
    if (member > size) return;
    at += kBlock + member;
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  size_t now = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 4 != 0) write_checksums(data, now);
  return now;
}
