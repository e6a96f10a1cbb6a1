// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <algorithm>

#include <fmt/format.h>

namespace aotc::tests::proof {

void Memory::check(int32_t r, int64_t at, int bytes) const {
  const Region& found = region(r);
  if (at < 0 || at + bytes > found.bytes)
    throw Failure(fmt::format("access to byte {} of '{}', which has {}", at, found.name, found.bytes));
}

Memory::Byte Memory::byte(int32_t r, int64_t at) const {
  const auto& written = written_[static_cast<size_t>(r)];
  if (const auto found = written.find(at); found != written.end()) return found->second;
  const Region& from = region(r);
  const auto place = static_cast<size_t>(at);
  Byte out{};
  const bool known = place < from.known.size() && from.known[place];
  for (int i = 0; i < 8; ++i) {
    Bit& bit = out[static_cast<size_t>(i)];
    bit = known ? Bit{Bit::kConstant, from.values[place] >> i & 1} : Bit{from.source, static_cast<int32_t>(8 * at + i)};
    if (!known && from.assumed) bit = from.assumed(from, bit);
  }
  return out;
}

bool Memory::is_of_table(int32_t source) const {
  return std::ranges::any_of(regions_, [&](const Region& r) { return r.source == source && r.table; });
}

Term Memory::load(int32_t r, int64_t at, int bytes, bool is_signed) const {
  check(r, at, bytes);
  Bits out{};
  for (int i = 0; i < bytes; ++i) {
    const Byte from = byte(r, at + i);
    std::copy(from.begin(), from.end(), out.begin() + 8 * i);
  }
  for (size_t i = static_cast<size_t>(8 * bytes); i < out.size() && is_signed; ++i) out[i] = out[i - 1];
  return terms_.of_bits(out);
}

void Memory::store(int32_t r, int64_t at, int bytes, Term value) {
  check(r, at, bytes);
  const Bits bits = terms_.bits(value);
  for (int i = 0; i < bytes; ++i) {
    Byte to{};
    std::copy_n(bits.begin() + 8 * i, 8, to.begin());
    written_[static_cast<size_t>(r)][at + i] = to;
  }
}

}  // namespace aotc::tests::proof
