// SPDX-License-Identifier: Apache-2.0
// Deterministic damage to .tflite files. The one thing to know: a mutation is a pure function of
// the original bytes and the case number, so a failing case is repeated by its number alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace aotc::fuzz {

// splitmix64: the same numbers with every standard library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  uint64_t below(uint64_t bound) { return bound == 0 ? 0 : next() % bound; }

 private:
  uint64_t state_;
};

// A scalar or offset inside the file that a table or vector of the format occupies.
struct Site {
  size_t position;
  int width;  // 1, 2, 4 or 8 bytes
};

// Every field, vtable entry, vector length and (for short vectors of numbers) element reachable
// from the root. The file must be a valid model.
std::vector<Site> find_sites(const std::vector<uint8_t>& bytes);

struct Mutation {
  std::vector<uint8_t> bytes;
  std::string what;  // for messages: "truncated to 17 bytes"
};
Mutation mutate(const std::vector<uint8_t>& original, const std::vector<Site>& sites, uint64_t seed, uint64_t number);

}  // namespace aotc::fuzz
