// SPDX-License-Identifier: Apache-2.0
// Order and registers of generated blocks.
#include "kernelgen/schedule.h"

#include <gtest/gtest.h>

#include <random>

#include "kernelgen/segment_cost.h"

namespace aotc::kernelgen {
namespace {

constexpr Row kAdd{"add %d, %0, %1", Bank::kCore};
constexpr Row kAddTo{.text = "mla %0, %1, %2, %0", .result = Bank::kCore, .tied = 0};
constexpr Row kMove{"movw %d, #$0", Bank::kCore};
constexpr Row kLoad{.text = "ldr %d, [%0], #$0", .result = Bank::kCore, .moved = 0, .memory = Row::Memory::kRead};
constexpr Row kLoads{
    .text = "ldmia %0!, %l", .result = Bank::kCore, .moved = 0, .memory = Row::Memory::kRead, .results = 3};
constexpr Row kStore{.text = "str %1, [%0], #$0", .result = Bank::kNone, .moved = 0, .memory = Row::Memory::kWrite};
constexpr Row kEven{.text = "vmladav.s8 %d, %0, %0", .result = Bank::kCore, .result_in = 0x5555};
constexpr Row kVector{"vdup.32 %d, %0"};
constexpr Row kPair{
    .text = "lsls %d, %1, #$0\nit pl\nmulpl %0, %0, %1", .result = Bank::kCore, .moved = 0, .early = true};

std::optional<Schedule> find(const Block& block, Registers core, Registers vector = 0xFF, size_t beam = 8) {
  return schedule(block, {{core, vector}, beam}, machine::Isa::kThumb, machine::Timing{});
}

void expect_right(const Block& block, const std::optional<Schedule>& found) {
  ASSERT_TRUE(found);
  EXPECT_EQ(check_schedule(block, *found), "");
}

TEST(Schedule, AnOverwrittenOperandHasNoReaderLeft) {
  Block block;
  const Value a = block.live_in(Bank::kCore, 0, false), b = block.live_in(Bank::kCore, 1);
  const Value sum = block.add(kAddTo, {a, b, b});
  const Value other = block.add(kAdd, {a, b});  // must come first
  block.keep(sum);
  block.keep(other);
  const auto found = find(block, 0xFF);
  expect_right(block, found);
  EXPECT_EQ(found->order, (std::vector<size_t>{1, 0}));
  EXPECT_EQ(print_assembly(block, *found), (std::vector<std::string>{"add r2, r0, r1", "mla r0, r1, r1, r0"}));
}

TEST(Schedule, AResultTakesTheRegisterOfAnOperandThatDies) {
  Block block;
  const Value a = block.live_in(Bank::kCore, 3, false), b = block.live_in(Bank::kCore, 4);
  block.keep(block.add(kAdd, {a, b}));
  const auto found = find(block, 0);
  expect_right(block, found);
  EXPECT_EQ(print_assembly(block, *found)[0], "add r3, r3, r4");
}

TEST(Schedule, TooFewRegisters) {
  Block block;
  std::vector<Value> values;
  for (int i = 0; i < 4; ++i) values.push_back(block.add(kMove, {}, {i}));
  for (Value v : values) block.keep(v);
  EXPECT_FALSE(find(block, 0x7));
  expect_right(block, find(block, 0xF));
}

TEST(Schedule, AccessesToOneStreamKeepTheirOrder) {
  Block block;
  Value pointer = block.live_in(Bank::kCore, 0, false), other = block.live_in(Bank::kCore, 1, false);
  const Value value = block.access(kLoad, pointer, {}, {4}, 1);
  block.access(kStore, other, {value}, {4}, 1);
  const Value next = block.access(kLoad, pointer, {}, {4}, 1);
  block.access(kStore, other, {next}, {4}, 1);
  block.keep(pointer);
  block.keep(other);
  const auto found = find(block, 0xFC);
  expect_right(block, found);
  EXPECT_EQ(found->order, (std::vector<size_t>{0, 1, 2, 3}));
}

TEST(Schedule, ListsAscendAndEncodingsLimitRegisters) {
  Block block;
  Value pointer = block.live_in(Bank::kCore, 0, false);
  const Value list = block.access(kLoads, pointer, {}, {}, 1);
  const Value vector = block.add(kVector, {list + 2});
  for (int i = 0; i < 3; ++i) block.keep(block.add(kEven, {vector}), 2 * i + 2);
  block.keep(pointer);
  block.keep(block.add(kAdd, {list, list + 1}));
  const auto found = find(block, 0x1FFE);
  expect_right(block, found);
  for (size_t i = 0; i < block.values().size(); ++i)
    EXPECT_NE(block.values()[i].allowed & register_bit(found->registers[i]), 0u) << i;
}

// Loads that follow each other take a cycle less; the search finds that without breaking the order of values.
TEST(Schedule, AWiderBeamIsNoSlower) {
  Block block;
  Value pointer = block.live_in(Bank::kCore, 0, false), sum = block.live_in(Bank::kCore, 1, false);
  for (int i = 0; i < 6; ++i) {
    const Value a = block.access(kLoad, pointer, {}, {4}, 1), b = block.access(kLoad, pointer, {}, {4}, 1);
    sum = block.add(kAddTo, {sum, a, b});
  }
  block.keep(pointer);
  block.keep(sum);
  const auto narrow = find(block, 0x3FC, 0, 1), wide = find(block, 0x3FC, 0, 64);
  expect_right(block, narrow);
  expect_right(block, wide);
  EXPECT_LE(wide->cycles, narrow->cycles);
  EXPECT_LT(wide->cycles, 6 * 4);  // two loads apart, and a product
}

TEST(Schedule, ChecksNoticeChangedOrders) {
  Block block;
  Value pointer = block.live_in(Bank::kCore, 0, false), sum = block.live_in(Bank::kCore, 1, false);
  for (int i = 0; i < 3; ++i) {
    const Value loaded = block.access(kLoad, pointer, {}, {4}, 1);
    sum = block.add(kAddTo, {sum, loaded, loaded});
  }
  block.keep(pointer);
  block.keep(sum);
  const auto found = find(block, 0x4);  // one register: no other order is right
  expect_right(block, found);
  for (size_t i = 0; i + 1 < found->order.size(); ++i) {
    Schedule changed = *found;
    std::swap(changed.order[i], changed.order[i + 1]);
    EXPECT_NE(check_schedule(block, changed), "") << i;
  }
  Schedule missing = *found;
  missing.order.pop_back();
  EXPECT_NE(check_schedule(block, missing), "");
}

// Blocks of all kinds of rows, with few registers: a schedule is right, or there is none.
TEST(Schedule, RandomBlocks) {
  int found_some = 0, found_none = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    Block block;
    Value pointer = block.live_in(Bank::kCore, 0, false);
    std::vector<Value> core = {block.live_in(Bank::kCore, 1, false)}, vector;
    auto any = [&](const std::vector<Value>& from) { return from[random() % from.size()]; };
    // An operand that is overwritten is a value of its own.
    auto fresh = [&] { return block.add(kMove, {}, {7}); };
    for (int i = 0; i < 25; ++i) switch (random() % 7) {
        case 0: core.push_back(block.add(kAdd, {any(core), any(core)})); break;
        case 1: core.push_back(block.add(kAddTo, {fresh(), any(core), any(core)})); break;
        case 2: core.push_back(block.access(kLoad, pointer, {}, {4}, 1)); break;
        case 3: core.push_back(block.access(kLoads, pointer, {}, {}, 1) + static_cast<int>(random() % 3)); break;
        case 4: vector.push_back(block.add(kVector, {any(core)})); break;
        case 5:
          if (!vector.empty()) core.push_back(block.add(kEven, {any(vector)}));
          break;
        case 6: {
          Value changed = fresh();
          block.access(kPair, changed, {any(core)}, {3}, 2);
          core.push_back(changed);
          break;
        }
      }
    block.keep(pointer);
    block.keep(core.back());
    const auto found = find(block, random() % 2 == 0 ? 0x1E : 0x3FFE, 0x3, 16);
    found ? ++found_some : ++found_none;
    if (found) {
      ASSERT_EQ(check_schedule(block, *found), "") << seed;
    }
  }
  EXPECT_GT(found_some, 100);
  EXPECT_GT(found_none, 10);
}

TEST(SegmentCost, PiecesThatFillNoIterationComeFirst) {
  const SegmentCost cost{.once = 10, .group = 20, .piece = 5, .pieces = 7, .begin = 1, .end = 2};
  EXPECT_EQ(cost.instructions(3, 1), 10 + 3 * (20 + 1 + 7 * (5 + 2)));
  EXPECT_EQ(cost.instructions(3, 3), 10 + 3 * (20 + 5 + 1 + 2 * (15 + 2)));
  EXPECT_EQ(cost.instructions(3, 4), 10 + 3 * (20 + 35));  // one iteration is no loop
  EXPECT_EQ(cost.text(3), 10 + 20 + 5 + 1 + 15 + 2);
  EXPECT_EQ(cost.best_unroll(1000, 1000, 1), 4);
  EXPECT_EQ(cost.best_unroll(1, 1, 1000), 1);
}

}  // namespace
}  // namespace aotc::kernelgen
