// SPDX-License-Identifier: Apache-2.0
// Products of one row with int8 weights, four units from one word, for cores that multiply 32 x 32
// bits quickly but have no vectors. A word w holds weights 0, 1 and 2 plus 128 and weight 3 as it
// is, a byte each:
//
//   w & 0x00FF00FF = (w0 + 128) + (w2 + 128) * 2^16     times x: sums 0 and 2
//   w >> 8         = (w1 + 128) + (w2 + 128) * 2^8 + w3 * 2^16     less sum 2: sums 1 and 3
//
// so two multiplies make four products. What the 128s add is known from the sum of x alone and is
// taken off where a sum begins. The one thing to know: this is exact while the sums of a group of
// steps fit 16 bits, so after each group they are added up in full words, and the few weights that
// are too large for their group are cut, their rests being multiplied one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/lowering.h"

namespace aotc::ops {

struct QuadGemv {
  static constexpr int64_t kUnits = 4;
  static constexpr int32_t kHalfWord = 0x8000;  // makes sums of 16 bits positive, so that they borrow nothing
  // The part of weight [unit][k] that its word does not hold.
  struct Rest {
    int64_t unit, k;
    int8_t weight;
  };
  int64_t depth = 1;
  int64_t group = 1;            // steps whose sums fit; written out, divides depth
  std::vector<int8_t> weights;  // [units][depth], less the rests
  std::vector<Rest> rests;      // by unit

  int64_t groups() const { return depth / group; }
};

// How to multiply by `weights` [units][depth]: the group with the fewest instructions. Nothing for
// fewer than four units, or where no group divides the depth.
std::optional<QuadGemv> plan_quads(const std::vector<int8_t>& weights, int64_t units, int64_t depth,
                                   const TargetInfo& target);

// Instructions for one row, and for one row by four units at a time without packing.
int64_t quad_cost(const QuadGemv& plan, int64_t units, const TargetInfo& target);
int64_t plain_row_cost(int64_t units, int64_t depth, const TargetInfo& target);

// The word of units `unit` to `unit` + 3 at step k.
int32_t quad_word(const QuadGemv& plan, int64_t unit, int64_t k);
// The words, [tile][depth], for the tiles of tile_starts(units, 4).
std::vector<int32_t> quad_words(const QuadGemv& plan, int64_t units);

// The weights that were cut, by unit: those of unit u are [begin[u], begin[u + 1]). Null where there are none.
struct QuadRests {
  tir::BufferPtr begin, at, value;
};

// Tables and scratch of a function that multiplies rows.
struct QuadBuffers {
  tir::BufferPtr words, bias;
  tir::BufferPtr starts;  // scratch: two words for each group
  QuadRests rests;
};
QuadBuffers make_quad_buffers(LoweringBuilder& f, const QuadGemv& plan, int64_t units,
                              const std::vector<int32_t>& bias);
// Scratch words that the buffers take.
int64_t quad_scratch_words(const QuadGemv& plan);

// Once for a row that begins at x[row]: what the sums of each group start from.
void emit_quad_starts(tir::FunctionBuilder& f, const QuadGemv& plan, const tir::BufferPtr& starts,
                      const tir::BufferPtr& x, const tir::Ex& row);
// Accumulators, bias included, of units `unit` to `unit` + 3, whose words begin at `base`.
std::vector<tir::Ex> emit_quad_tile(tir::FunctionBuilder& f, const QuadGemv& plan, const QuadBuffers& buffers,
                                    const tir::BufferPtr& x, const tir::Ex& row, const tir::Ex& base,
                                    const tir::Ex& unit);

}  // namespace aotc::ops
