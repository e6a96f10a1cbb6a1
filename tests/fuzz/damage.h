// SPDX-License-Identifier: Apache-2.0
// Damage that a file of any format may have. The one thing to know: how many numbers are drawn, and in which order,
// is part of what a seed means.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace aotc::fuzz {

inline size_t below(std::mt19937_64& random, size_t n) { return n == 0 ? 0 : random() % n; }

// At `at`, of kinds 0 (another byte), 1 (another bit), 2 (some bytes less), 3 (some bytes copied elsewhere); other
// kinds are the caller's: false.
inline bool damage(std::vector<uint8_t>& bytes, size_t at, size_t kind, std::mt19937_64& random) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  const size_t left = bytes.size() - at;
  switch (kind) {
    case 0: *begin = static_cast<uint8_t>(random()); return true;
    case 1: *begin = static_cast<uint8_t>(*begin ^ (1u << below(random, 8))); return true;
    case 2:
      bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(below(random, std::min<size_t>(left, 40))));
      return true;
    case 3: {
      const std::vector<uint8_t> piece(begin,
                                       begin + static_cast<std::ptrdiff_t>(below(random, std::min<size_t>(left, 60))));
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(below(random, bytes.size())), piece.begin(),
                   piece.end());
      return true;
    }
    default: return false;
  }
}

}  // namespace aotc::fuzz
