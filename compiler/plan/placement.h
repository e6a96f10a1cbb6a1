// SPDX-License-Identifier: Apache-2.0
// Gives every buffer and every call's scratch its place in the arena: finds lifetimes, lets results
// be written over operands that die where the published order allows it, and packs. The one thing a
// caller must know: a buffer is alive from the first call that names it to the last one, and longer
// only where `from_start` or `to_end` say so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/lowering.h"

namespace aotc::plan {

struct Buffer {
  int64_t bytes = 0;
  int64_t alignment = 1;    // bytes, a power of two
  std::string name;         // for messages only
  bool from_start = false;  // filled before the first call, also if no call names it
  bool to_end = false;      // read after the last call
  int device = 0;
};

// What one call does with buffers.
struct BufferUse {
  std::vector<int> buffers;  // one per argument in the arena; an operand given twice is here twice
  int64_t scratch_bytes = 0;
  int scratch_alignment = 1;
  int device = 0;
  // The result may be written over the operand in this order, if nobody needs the operand later.
  struct Overlap {
    int operand = -1, result = -1;  // buffers
    const ops::WriteOrder* order = nullptr;
  };
  std::vector<Overlap> overlaps;
  // The scratch memory may be written over an operand in this order, if nobody needs that later.
  Overlap scratch_overlap = {};
};

struct Placement {
  std::vector<int64_t> offsets;          // by buffer, bytes; -1: nobody needs it
  std::vector<int> block;                // by buffer: those of equal number are the same bytes
  std::vector<int64_t> scratch_offsets;  // by call; -1: none
  std::vector<int64_t> live_bytes;       // by call
  int64_t bytes = 0;                     // of the arena
  int64_t lower_bound = 0;
  int64_t without_overlap = 0;  // what the same needs with no shared bytes
  bool proven_optimal = false;
  std::string method;
  int64_t too_many_pairs = 0;  // so many pairs are alive at once that nothing was planned
  std::string error;           // of the packer
  int64_t work = 0;            // what finding it took: Solution::work of all attempts

  bool ok() const { return too_many_pairs == 0 && error.empty(); }
};

// Packing costs time and memory for each pair of buffers that are alive at once: so many, which 1,448 buffers have,
// take some ten seconds and a hundred megabytes.
inline constexpr int64_t kMaxPairs = 1 << 20;

// What all attempts at one placement may take together, as PackingOptions::max_work.
inline constexpr int64_t kMaxWork = 200'000'000;

// The smallest of: no sharing, results over dying operands, and that with results exactly in the
// place of operands where the operator allows it, of smaller ones where that lowers the peak. Without
// `overlap` only the first.
Placement place_buffers(const std::vector<Buffer>& buffers, const std::vector<BufferUse>& calls, bool overlap);

}  // namespace aotc::plan
