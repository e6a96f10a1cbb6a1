// SPDX-License-Identifier: Apache-2.0
// Several pools: who lies where, what is put out of a pool that is too small, and that nothing which
// is alive at the same time shares bytes.
#include "plan/pools.h"

#include <gtest/gtest.h>

#include "packing_oracle.h"

namespace aotc::plan {
namespace {

Buffer buffer(int64_t bytes, int device = 0) { return {bytes, 4, "b", false, false, device}; }

BufferUse use(std::vector<int> buffers, int64_t scratch = 0, int device = 0) {
  BufferUse out;
  out.buffers = std::move(buffers);
  out.scratch_bytes = scratch;
  out.scratch_alignment = 4;
  out.device = device;
  return out;
}

passes::Device device(const std::string& name, const std::string& pool = "") {
  passes::Device out;
  out.name = name;
  out.pool = pool;
  return out;
}

// Each buffer is made by one call and read by the next.
std::vector<BufferUse> chain(size_t buffers, int64_t scratch = 0) {
  std::vector<BufferUse> out;
  for (size_t c = 0; c + 1 < buffers; ++c) out.push_back(use({static_cast<int>(c), static_cast<int>(c) + 1}, scratch));
  return out;
}

TEST(Pools, OneArenaIsNamedSo) {
  PooledPlacement p = place_in_pools({buffer(8), buffer(8)}, chain(2), true, {}, {device("cpu")});
  ASSERT_TRUE(p.placement.ok());
  ASSERT_EQ(p.sizes.size(), 1u);
  EXPECT_EQ(p.sizes[0].name, "arena");
  EXPECT_EQ(p.sizes[0].bytes, 16);
  EXPECT_EQ(p.placement.bytes, 16);
  EXPECT_EQ(p.placement.lower_bound, 16);
  EXPECT_EQ(p.placement.without_overlap, 16);
  EXPECT_TRUE(p.placement.proven_optimal);
  EXPECT_EQ(p.placement.live_bytes, (std::vector<int64_t>{16}));
  EXPECT_EQ(p.pools, (std::vector<int>{0, 0}));
  // A pool of tables is no place for tensors.
  Pool tables{"tables"};
  tables.constants = true;
  p = place_in_pools({buffer(8), buffer(8)}, chain(2), true, {tables}, {device("cpu")});
  ASSERT_EQ(p.sizes.size(), 2u);
  EXPECT_EQ(p.sizes[0].name, "arena");
  EXPECT_EQ(p.pools, (std::vector<int>{0, 0}));
}

TEST(Pools, ModelsWithoutTensorsHaveAPlacement) {
  PooledPlacement p = place_in_pools({}, {use({})}, true, {}, {device("cpu"), device("npu")});
  EXPECT_TRUE(p.placement.ok());
  EXPECT_EQ(p.placement.bytes, 0);
  EXPECT_FALSE(p.placement.method.empty());
}

TEST(Pools, ResultsTakeTheirOperandsPlace) {
  ops::WriteOrder order;
  order.in_place = true;
  for (auto [operand, result] : {std::pair{0, 1}, {1, 0}}) {
    BufferUse call = use({operand, result});
    call.overlaps = {{operand, result, &order}};
    PooledPlacement p = place_in_pools({buffer(8), buffer(8)}, {call}, true, {}, {device("cpu")});
    EXPECT_EQ(p.placement.bytes, 8);
    EXPECT_EQ(p.placement.without_overlap, 16);
    ASSERT_EQ(p.placement.block.size(), 2u);
    EXPECT_EQ(p.placement.block[0], p.placement.block[1]);
  }
}

// Scratch may lie over an operand that dies, but not over one in another region.
TEST(Pools, ScratchLiesOverOperandsOfItsRegion) {
  ops::WriteOrder order;
  order.steps = {{0, 16, 0, 0}, {0, 0, 0, 16}};  // all is read before anything is written
  for (int operand : {0, 1}) {
    BufferUse call = use({0, 1}, 16, 1);
    call.scratch_overlap = {operand, -1, &order};
    PooledPlacement p = place_in_pools({buffer(16), buffer(16, 1)}, {call}, true, {}, {device("cpu"), device("npu")});
    ASSERT_TRUE(p.placement.ok());
    EXPECT_EQ(p.placement.bytes, operand == 0 ? 48 : 32);
    EXPECT_EQ(p.placement.scratch_offsets[0] == p.placement.offsets[1], operand == 1);
    EXPECT_NE(p.placement.scratch_offsets[0], p.placement.offsets[0]);
  }
}

TEST(Pools, DevicesHaveRegionsOfTheirOwn) {
  // 0 and 1 on the host, 2 and 3 on a device; never alive together, yet no byte is shared.
  std::vector<Buffer> buffers = {buffer(24), buffer(8), buffer(40, 1), buffer(4, 1)};
  std::vector<BufferUse> calls = {use({0, 1}, 12), use({2, 3}, 8, 1)};
  PooledPlacement p = place_in_pools(buffers, calls, true, {}, {device("cpu"), device("npu")});
  ASSERT_TRUE(p.placement.ok());
  EXPECT_EQ(p.sizes[0].bytes, 48 + 52);  // the second region begins at a multiple of 16
  EXPECT_EQ(p.placement.bytes, 100);
  EXPECT_GE(p.placement.offsets[2], 48);
  EXPECT_GE(p.placement.offsets[3], 48);
  EXPECT_LT(p.placement.offsets[0], 44);
  EXPECT_GE(p.placement.scratch_offsets[1], 48);
  EXPECT_LT(p.placement.scratch_offsets[0], 44);
  EXPECT_EQ(p.placement.live_bytes, (std::vector<int64_t>{44, 52}));
  EXPECT_EQ(p.placement.lower_bound, 96);
  EXPECT_EQ(p.placement.without_overlap, 96);
}

TEST(Pools, ADevicesPoolIsForItAlone) {
  std::vector<Buffer> buffers = {buffer(24), buffer(8), buffer(40, 1), buffer(4, 1)};
  std::vector<BufferUse> calls = {use({0, 1}, 12), use({2, 3}, 8, 1)};
  std::vector<passes::Device> devices = {device("cpu"), device("npu", "tcm")};
  PooledPlacement p = place_in_pools(buffers, calls, true, {}, devices);
  ASSERT_EQ(p.sizes.size(), 2u);
  EXPECT_EQ(p.sizes[1].name, "tcm");
  EXPECT_EQ(p.pools, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(p.scratch_pools, (std::vector<int>{0, 1}));
  EXPECT_EQ(p.sizes[0].bytes, 44);
  EXPECT_EQ(p.sizes[1].bytes, 52);
  EXPECT_EQ(p.placement.bytes, 96);
  // It may be listed, also as the first or the fast one; the host does not take it.
  for (bool fast : {false, true}) {
    Pool tcm{"tcm"};
    tcm.fast = fast;
    p = place_in_pools(buffers, calls, true, {tcm, Pool{"ram"}}, devices);
    ASSERT_EQ(p.sizes.size(), 2u);
    EXPECT_EQ(p.pools, (std::vector<int>{1, 1, 0, 0}));
    EXPECT_EQ(p.scratch_pools, (std::vector<int>{1, 0}));
  }
}

Pool pool(const std::string& name, int64_t limit, bool fast = false) {
  Pool out{name};
  out.limit = limit;
  out.fast = fast;
  return out;
}

TEST(Pools, FastOnesAreFilledFirst) {
  std::vector<Buffer> buffers(3, buffer(8));
  PooledPlacement p =
      place_in_pools(buffers, chain(3), true, {pool("slow", -1), pool("quick", -1, true)}, {device("cpu")});
  EXPECT_EQ(p.pools, (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(p.sizes[0].bytes, 0);
  EXPECT_EQ(p.sizes[1].bytes, 16);
}

TEST(Pools, WhatDoesNotFitGoesToTheNext) {
  // The peak is 1 beside 2; of equals in use the largest goes.
  std::vector<Buffer> buffers = {buffer(8), buffer(40), buffer(24), buffer(8)};
  auto placed = [&](int64_t limit) {
    return place_in_pools(buffers, chain(4), true, {pool("small", limit), pool("rest", -1)}, {device("cpu")});
  };
  EXPECT_EQ(placed(64).pools, (std::vector<int>{0, 0, 0, 0}));
  PooledPlacement p = placed(63);
  EXPECT_EQ(p.pools, (std::vector<int>{0, 1, 0, 0}));
  EXPECT_EQ(p.sizes[0].bytes, 32);
  EXPECT_EQ(p.sizes[1].bytes, 40);
  EXPECT_EQ(placed(32).pools, (std::vector<int>{0, 1, 0, 0}));
  EXPECT_EQ(placed(31).pools, (std::vector<int>{0, 1, 0, 1}));  // the peak is 2 beside 3, which one call uses
  EXPECT_EQ(placed(8).pools, (std::vector<int>{0, 1, 1, 0}));
  p = placed(0);
  EXPECT_EQ(p.pools, (std::vector<int>{1, 1, 1, 1}));
  EXPECT_EQ(p.sizes[0].bytes, 0);
  EXPECT_EQ(p.sizes[1].bytes, 64);
  // Alive until the last call, 1 makes the peak with 2 and 3; what more calls use stays, though it is
  // larger.
  std::vector<BufferUse> calls = chain(4);
  calls.push_back(use({1}));
  p = place_in_pools(buffers, calls, true, {pool("small", 63), pool("rest", -1)}, {device("cpu")});
  EXPECT_EQ(p.pools, (std::vector<int>{0, 0, 1, 1}));
  // What never fits goes first, whoever uses it.
  p = place_in_pools(buffers, calls, true, {pool("small", 39), pool("rest", -1)}, {device("cpu")});
  EXPECT_EQ(p.pools, (std::vector<int>{0, 1, 0, 0}));
}

TEST(Pools, ScratchGoesOnlyWhereNothingElseCan) {
  std::vector<Buffer> buffers = {buffer(8), buffer(8)};
  auto placed = [&](int64_t scratch, int64_t limit) {
    return place_in_pools(buffers, chain(2, scratch), true, {pool("small", limit), pool("rest", -1)}, {device("cpu")});
  };
  EXPECT_EQ(placed(16, 32).scratch_pools, (std::vector<int>{0}));
  EXPECT_EQ(placed(16, 32).pools, (std::vector<int>{0, 0}));
  // A buffer goes before scratch that would fit, scratch that never fits goes before buffers.
  EXPECT_EQ(placed(16, 31).scratch_pools, (std::vector<int>{0}));
  EXPECT_EQ(placed(16, 31).pools, (std::vector<int>{1, 0}));
  EXPECT_EQ(placed(40, 31).scratch_pools, (std::vector<int>{1}));
  EXPECT_EQ(placed(40, 31).pools, (std::vector<int>{0, 0}));
}

TEST(Pools, InputsAndOutputsAreAliveBeyondTheirCalls) {
  std::vector<Buffer> buffers = {buffer(16), buffer(40), buffer(24), buffer(16)};
  buffers[0].from_start = buffers[0].to_end = true;
  std::vector<BufferUse> calls = {use({1}), use({1, 2}), use({2, 3}), use({0})};
  PooledPlacement p = place_in_pools(buffers, calls, true, {pool("small", 64), pool("rest", -1)}, {device("cpu")});
  // Used once, 0 is the one that goes, though it is used long after the peak.
  EXPECT_EQ(p.pools, (std::vector<int>{1, 0, 0, 0}));
  EXPECT_EQ(p.sizes[0].bytes, 64);
}

TEST(Pools, TooManyPairsAreReported) {
  std::vector<Buffer> buffers(1500, buffer(4));
  std::vector<int> all;
  for (int b = 0; b < 1500; ++b) all.push_back(b);
  PooledPlacement p = place_in_pools(buffers, {use(all)}, true, {}, {device("cpu")});
  EXPECT_EQ(p.placement.too_many_pairs, 1500 * 1499 / 2);
  EXPECT_FALSE(p.placement.ok());
}

// Lifetimes as documented, computed here: the first and last call that names a buffer.
struct Life {
  int64_t begin = INT64_MAX, end = -1;
};

Life life_of(size_t b, const std::vector<Buffer>& buffers, const std::vector<BufferUse>& calls) {
  Life life;
  if (buffers[b].from_start) life = {-1, -1};
  const auto count = static_cast<int64_t>(calls.size());
  for (int64_t c = 0; c < count; ++c)
    for (int used : calls[static_cast<size_t>(c)].buffers)
      if (used == static_cast<int>(b)) life = {std::min(life.begin, c), c};
  if (buffers[b].to_end) life = {std::min(life.begin, count), count};
  return life;
}

TEST(Pools, NothingAliveIsOverwritten) {
  TestRandom random(3);
  int split = 0;
  for (int round = 0; round < 150; ++round) {
    std::vector<Buffer> buffers;
    std::vector<BufferUse> calls;
    std::vector<passes::Device> devices = {device("cpu")};
    if (random.one_in(2)) devices.push_back(device("npu", random.one_in(2) ? "tcm" : ""));
    const int last_device = static_cast<int>(devices.size()) - 1;
    const int count = 3 + round % 9;
    for (int b = 0; b < count; ++b) {
      buffers.push_back(buffer(random.range(0, 60), static_cast<int>(random.range(0, last_device))));
      buffers.back().from_start = random.one_in(5);
    }
    for (int c = 0; c < 6; ++c) {
      calls.push_back(
          use({}, random.one_in(3) ? random.range(1, 30) : 0, static_cast<int>(random.range(0, last_device))));
      for (int b = 0; b < count; ++b)
        if (random.one_in(4)) calls.back().buffers.push_back(b);
      // What is read at the end has been written.
      for (int b : calls.back().buffers) buffers[static_cast<size_t>(b)].to_end |= random.one_in(8);
    }
    std::vector<Pool> pools = {pool("a", random.range(0, 120), random.one_in(2)), pool("b", -1)};
    PooledPlacement p = place_in_pools(buffers, calls, true, pools, devices);
    ASSERT_TRUE(p.placement.ok()) << p.placement.error;
    int64_t sum = 0;
    for (const Pool& size : p.sizes) sum += size.bytes;
    ASSERT_EQ(p.placement.bytes, sum);
    ASSERT_LE(p.sizes[0].bytes, pools[0].limit) << "round " << round;
    split += p.sizes[0].bytes > 0 && p.sizes[1].bytes > 0;

    struct Block {
      int64_t begin, end;  // bytes
      Life life;
      int pool, device;
    };
    std::vector<Block> blocks;
    for (size_t b = 0; b < buffers.size(); ++b) {
      const Life life = life_of(b, buffers, calls);
      const int64_t at = p.placement.offsets[b];
      ASSERT_EQ(at < 0, life.begin == INT64_MAX);
      if (at >= 0) blocks.push_back({at, at + buffers[b].bytes, life, p.pools[b], buffers[b].device});
    }
    for (int64_t c = 0; c < 6; ++c) {
      const BufferUse& call = calls[static_cast<size_t>(c)];
      const int64_t at = p.placement.scratch_offsets[static_cast<size_t>(c)];
      ASSERT_EQ(at < 0, call.scratch_bytes == 0);
      if (at >= 0)
        blocks.push_back({at, at + call.scratch_bytes, {c, c}, p.scratch_pools[static_cast<size_t>(c)], call.device});
    }
    for (const Block& x : blocks) {
      ASSERT_LE(x.end, p.sizes[static_cast<size_t>(x.pool)].bytes);
      ASSERT_EQ(x.begin % 4, 0);
      for (const Block& y : blocks) {
        if (&x == &y || x.pool != y.pool || x.end <= y.begin || y.end <= x.begin) continue;
        ASSERT_EQ(x.device, y.device) << "round " << round;
        ASSERT_TRUE(x.life.end < y.life.begin || y.life.end < x.life.begin) << "round " << round;
      }
    }
  }
  EXPECT_GT(split, 20);
}

}  // namespace
}  // namespace aotc::plan
