// SPDX-License-Identifier: Apache-2.0
// Memory: regions of bytes over unknown data, such as the buffers of a kernel's call. Both sides of a proof have their
// own, with the same first contents. An access outside of a region is a Failure.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "terms.h"

namespace aotc::tests::proof {

// The checker does not accept a run; the text says why.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A decision depends on bits of tables that must be known before the run is repeated.
struct NeedsKnown {
  std::vector<Bit> bits;
};

struct Region {
  std::string name;
  int32_t source = 0;  // of its unknown bits
  int64_t bytes = 0;
  int alignment = 1;  // of its first byte
  bool writable = false;
  bool table = false;                // of constants
  std::vector<uint8_t> values = {};  // those of bytes that are known
  std::vector<bool> known = {};
  // What is assumed of unknown bits: the bit that one is equal to.
  std::function<Bit(const Region&, Bit)> assumed = nullptr;
};

class Memory {
 public:
  using Byte = std::array<Bit, 8>;

  Memory(Terms& terms, const std::vector<Region>& regions)
      : terms_(terms), regions_(regions), written_(regions.size()) {}

  const Region& region(int32_t r) const { return regions_[static_cast<size_t>(r)]; }
  Term load(int32_t r, int64_t at, int bytes, bool is_signed) const;
  void store(int32_t r, int64_t at, int bytes, Term value);
  Byte byte(int32_t r, int64_t at) const;
  bool is_of_table(int32_t source) const;
  // The bytes of a region that were written.
  const std::unordered_map<int64_t, Byte>& written(int32_t r) const { return written_[static_cast<size_t>(r)]; }

 private:
  void check(int32_t r, int64_t at, int bytes) const;

  Terms& terms_;
  const std::vector<Region>& regions_;
  std::vector<std::unordered_map<int64_t, Byte>> written_;
};

}  // namespace aotc::tests::proof
