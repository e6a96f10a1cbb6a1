// SPDX-License-Identifier: Apache-2.0
// Orders of calls in which less is alive.
#include "plan/placement_order.h"

#include <gtest/gtest.h>

namespace aotc {
namespace {

using plan::Buffer;
using plan::BufferUse;

Buffer bytes(int64_t size) { return {size, 1, "b", false, false}; }

BufferUse use(std::vector<int> buffers) {
  BufferUse out;
  out.buffers = std::move(buffers);
  return out;
}

// A residual block: 0 is read by both branches, 1 and 2 are the longer one, 3 the shorter, which may lie over 0.
struct Block {
  std::vector<Buffer> buffers = {bytes(4608), bytes(2304), bytes(2304), bytes(2304), bytes(2304)};
  ops::WriteOrder in_place;
  std::vector<BufferUse> calls = {use({0}), use({0, 1}), use({1, 2}), use({0, 3}), use({2, 3, 4})};
  plan::WrittenBuffers written = {{0}, {1}, {2}, {3}, {4}};
  Block() {
    in_place.in_place = true;
    calls[3].overlaps = {{0, 3, &in_place}};
  }
};

TEST(PlacementOrder, TheShorterBranchRunsWhileLessIsAlive) {
  Block block;
  auto order = plan::emptier_order(block.buffers, block.calls, block.written);
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(*order, (std::vector<int>{0, 1, 3, 2, 4}));
}

TEST(PlacementOrder, WhatIsBestAlreadyStays) {
  Block block;
  std::swap(block.calls[2], block.calls[3]);
  std::swap(block.written[2], block.written[3]);
  EXPECT_FALSE(plan::emptier_order(block.buffers, block.calls, block.written).has_value());
}

// The second call writes what the first reads, and the third reads that: nothing may change places.
TEST(PlacementOrder, WritesStayBehindReads) {
  const std::vector<Buffer> buffers = {bytes(10), bytes(100), bytes(1)};
  std::vector<BufferUse> calls = {use({0, 1}), use({0}), use({0, 2}), use({1, 2})};
  calls[2].scratch_bytes = 50;  // so that the first would better run behind it
  EXPECT_FALSE(plan::emptier_order(buffers, calls, {{1}, {0}, {2}, {}}).has_value());
}

}  // namespace
}  // namespace aotc
