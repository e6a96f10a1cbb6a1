// SPDX-License-Identifier: Apache-2.0
// The stack allocator, in the configuration the file is compiled with: the same cases run with and
// without the LIFO check, and what differs between the two is asked of the macro.
#include <gtest/gtest.h>
#include <tvm/runtime/crt/stack_allocator.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace {

constexpr std::size_t kAlign = TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES;
constexpr bool kChecked = TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK != 0;

std::size_t block_bytes(std::size_t bytes) { return TVM_CRT_STACK_ALLOCATOR_BLOCK_BYTES(bytes); }

// A workspace of `blocks` alignment units on the heap, where AddressSanitizer guards both ends.
class StackAllocatorTest : public testing::Test {
 protected:
  static constexpr std::size_t kUnits = 32;
  static constexpr std::size_t kBytes = kUnits * kAlign;

  void SetUp() override {
    ASSERT_EQ(StackMemoryManager_Init(&workspace_, memory_.get() + skip(), kBytes),
              kTvmErrorNoError);
    ASSERT_EQ(workspace_.workspace_size, kBytes);
  }

  // Bytes up to the first aligned address of memory_.
  std::size_t skip() const {
    return (kAlign - reinterpret_cast<std::uintptr_t>(memory_.get()) % kAlign) % kAlign;
  }

  void* allocate(std::int32_t bytes) {
    void* ptr = nullptr;
    EXPECT_EQ(StackMemoryManager_Allocate(&workspace_, bytes, &ptr), kTvmErrorNoError) << bytes;
    return ptr;
  }

  tvm_crt_error_t free_block(void* ptr) { return StackMemoryManager_Free(&workspace_, ptr); }

  std::size_t used() const {
    return static_cast<std::size_t>(workspace_.next_alloc - workspace_.workspace);
  }

  std::unique_ptr<std::uint8_t[]> memory_ = std::make_unique<std::uint8_t[]>(kBytes + kAlign - 1);
  tvm_workspace_t workspace_{};
};

TEST_F(StackAllocatorTest, BlocksStackUpAndAreReusedNewestFirst) {
  auto* a = static_cast<std::uint8_t*>(allocate(1));
  auto* b = static_cast<std::uint8_t*>(allocate(static_cast<std::int32_t>(kAlign) + 1));
  auto* c = static_cast<std::uint8_t*>(allocate(7));
  EXPECT_EQ(a, memory_.get() + skip());
  EXPECT_EQ(b, a + block_bytes(1));
  EXPECT_EQ(c, b + block_bytes(kAlign + 1));
  EXPECT_EQ(free_block(c), kTvmErrorNoError);
  EXPECT_EQ(free_block(b), kTvmErrorNoError);
  EXPECT_EQ(allocate(3), b);
  EXPECT_EQ(free_block(b), kTvmErrorNoError);
  EXPECT_EQ(free_block(a), kTvmErrorNoError);
  EXPECT_EQ(used(), 0u);
}

TEST_F(StackAllocatorTest, BlockTakesItsBytesAndTheFooterRoundedUp) {
  const std::size_t footer = kChecked ? 4 : 0;
  EXPECT_EQ(block_bytes(1), kAlign);
  EXPECT_EQ(block_bytes(kAlign - footer), kAlign);
  EXPECT_EQ(block_bytes(kAlign - footer + 1), 2 * kAlign);
  allocate(static_cast<std::int32_t>(kAlign));
  EXPECT_EQ(used(), kChecked ? 2 * kAlign : kAlign);
}

TEST_F(StackAllocatorTest, EveryBlockIsAlignedWhereverTheMemoryBegins) {
  for (std::size_t shift = 0; shift < kAlign; ++shift) {
    auto memory = std::make_unique<std::uint8_t[]>(8 * kAlign + shift);
    tvm_workspace_t workspace;
    ASSERT_EQ(StackMemoryManager_Init(&workspace, memory.get() + shift, 8 * kAlign),
              kTvmErrorNoError);
    for (std::int32_t bytes : {1, 3, 9}) {
      void* ptr = nullptr;
      ASSERT_EQ(StackMemoryManager_Allocate(&workspace, bytes, &ptr), kTvmErrorNoError);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(ptr) % kAlign, 0u) << "shift " << shift;
      std::memset(ptr, 0xa5, static_cast<std::size_t>(bytes));
    }
  }
}

TEST_F(StackAllocatorTest, ExhaustionIsReportedAndChangesNothing) {
  void* ptr = this;
  EXPECT_EQ(StackMemoryManager_Allocate(&workspace_, static_cast<std::int32_t>(kBytes) + 1, &ptr),
            kTvmErrorPlatformNoMemory);
  EXPECT_EQ(ptr, nullptr);
  ptr = this;
  EXPECT_EQ(
      StackMemoryManager_Allocate(&workspace_, std::numeric_limits<std::int32_t>::max(), &ptr),
      kTvmErrorPlatformNoMemory);
  EXPECT_EQ(ptr, nullptr);
  EXPECT_EQ(used(), 0u);
  EXPECT_EQ(workspace_.high_water_bytes, 0u);

  void* last = nullptr;
  for (std::size_t i = 0; i < kUnits; ++i) last = allocate(1);
  EXPECT_EQ(used(), kBytes);
  EXPECT_EQ(StackMemoryManager_Allocate(&workspace_, 1, &ptr), kTvmErrorPlatformNoMemory);
  EXPECT_EQ(StackMemoryManager_Allocate(&workspace_, 0, &ptr), kTvmErrorPlatformNoMemory);
  EXPECT_EQ(free_block(last), kTvmErrorNoError);
  EXPECT_EQ(allocate(1), last);
}

TEST_F(StackAllocatorTest, WholeWorkspaceFitsInOneBlock) {
  const std::size_t footer = kChecked ? 4 : 0;
  void* ptr = allocate(static_cast<std::int32_t>(kBytes - footer));
  std::memset(ptr, 0xff, kBytes - footer);
  EXPECT_EQ(free_block(ptr), kTvmErrorNoError);
  if (kChecked) {
    EXPECT_EQ(StackMemoryManager_Allocate(&workspace_, static_cast<std::int32_t>(kBytes - 3), &ptr),
              kTvmErrorPlatformNoMemory);
  }
}

TEST_F(StackAllocatorTest, EmptyBlocksAreDistinct) {
  void* a = allocate(0);
  void* b = allocate(0);
  EXPECT_NE(a, b);
  EXPECT_EQ(free_block(b), kTvmErrorNoError);
  EXPECT_EQ(free_block(a), kTvmErrorNoError);
}

TEST_F(StackAllocatorTest, FreeOutOfOrderIsRefusedWithTheCheckAndFreesNewerBlocksWithout) {
  void* a = allocate(4);
  void* b = allocate(4);
  void* c = allocate(4);
  const std::size_t before = used();
  if (kChecked) {
    EXPECT_EQ(free_block(a), kTvmErrorPlatformStackAllocBadFree);
    EXPECT_EQ(free_block(b), kTvmErrorPlatformStackAllocBadFree);
    EXPECT_EQ(used(), before);
    EXPECT_EQ(free_block(c), kTvmErrorNoError);
    EXPECT_EQ(free_block(a), kTvmErrorPlatformStackAllocBadFree);
    EXPECT_EQ(free_block(b), kTvmErrorNoError);
    EXPECT_EQ(free_block(a), kTvmErrorNoError);
  } else {
    EXPECT_EQ(free_block(b), kTvmErrorNoError);
    EXPECT_EQ(used(), block_bytes(4));
    EXPECT_EQ(free_block(c), kTvmErrorPlatformStackAllocBadFree);
    EXPECT_EQ(free_block(a), kTvmErrorNoError);
  }
  EXPECT_EQ(used(), 0u);
}

TEST_F(StackAllocatorTest, SecondFreeIsRefused) {
  void* a = allocate(4);
  void* b = allocate(4);
  EXPECT_EQ(free_block(b), kTvmErrorNoError);
  EXPECT_EQ(free_block(b), kTvmErrorPlatformStackAllocBadFree);
  EXPECT_EQ(used(), block_bytes(4));
  EXPECT_EQ(free_block(a), kTvmErrorNoError);
  EXPECT_EQ(free_block(a), kTvmErrorPlatformStackAllocBadFree);
  EXPECT_EQ(used(), 0u);
}

TEST_F(StackAllocatorTest, ForeignPointersAreRefused) {
  auto* a = static_cast<std::uint8_t*>(allocate(2 * static_cast<std::int32_t>(kAlign)));
  const std::size_t before = used();
  int elsewhere = 0;
  for (void* ptr : std::initializer_list<void*>{
           nullptr, &elsewhere, a + 1, workspace_.next_alloc, a + kBytes,
           reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(a) - kAlign)}) {
    EXPECT_EQ(free_block(ptr), kTvmErrorPlatformStackAllocBadFree) << ptr;
  }
  if (kChecked) {
    EXPECT_EQ(free_block(a + kAlign), kTvmErrorPlatformStackAllocBadFree);
  }
  EXPECT_EQ(used(), before);
  EXPECT_EQ(free_block(a), kTvmErrorNoError);
}

TEST_F(StackAllocatorTest, BlockWrittenBeyondItsEndIsFoundOut) {
  if (!kChecked) GTEST_SKIP() << "needs the LIFO check";
  const std::size_t bytes = kAlign - 4;
  for (int value : {0x00, 0xff, 0x5a}) {
    void* a = allocate(static_cast<std::int32_t>(bytes));
    std::memset(a, value, kAlign);
    EXPECT_EQ(free_block(a), kTvmErrorPlatformStackAllocBadFree) << value;
  }
}

TEST_F(StackAllocatorTest, BadArgumentsAreRefused) {
  void* ptr = this;
  EXPECT_EQ(StackMemoryManager_Allocate(&workspace_, -1, &ptr), kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(ptr, nullptr);
  EXPECT_EQ(
      StackMemoryManager_Allocate(&workspace_, std::numeric_limits<std::int32_t>::min(), &ptr),
      kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(StackMemoryManager_Allocate(&workspace_, 1, nullptr), kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(StackMemoryManager_Allocate(nullptr, 1, &ptr), kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(StackMemoryManager_Free(nullptr, this), kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(used(), 0u);

  std::uint8_t byte = 0;
  EXPECT_EQ(StackMemoryManager_Init(nullptr, &byte, 1), kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(StackMemoryManager_Init(&workspace_, nullptr, 1), kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(StackMemoryManager_Init(&workspace_, &byte, std::numeric_limits<std::size_t>::max()),
            kTvmErrorPlatformCheckFailure);
}

TEST_F(StackAllocatorTest, NoMemoryAtAllIsAnEmptyStack) {
  void* ptr = nullptr;
  ASSERT_EQ(StackMemoryManager_Init(&workspace_, nullptr, 0), kTvmErrorNoError);
  EXPECT_EQ(StackMemoryManager_Allocate(&workspace_, 0, &ptr), kTvmErrorPlatformNoMemory);
  EXPECT_EQ(StackMemoryManager_Free(&workspace_, this), kTvmErrorPlatformStackAllocBadFree);
  // Fewer bytes than the way to the first aligned address.
  ASSERT_EQ(StackMemoryManager_Init(&workspace_, memory_.get() + skip() + 1, 3), kTvmErrorNoError);
  EXPECT_EQ(workspace_.workspace_size, 0u);
  EXPECT_EQ(StackMemoryManager_Allocate(&workspace_, 1, &ptr), kTvmErrorPlatformNoMemory);
}

TEST_F(StackAllocatorTest, RandomUseAgreesWithAListOfBlocks) {
  struct Block {
    std::uint8_t* ptr;
    std::size_t bytes;
    std::uint8_t fill;
  };
  std::mt19937 random(20261121);
  std::vector<Block> live;
  std::size_t in_use = 0;
  std::size_t high_water = 0;
  int exhausted = 0;
  for (int step = 0; step < 20000; ++step) {
    const auto draw = random();
    if (draw % 100 < 55) {
      const std::size_t bytes = random() % (5 * kAlign);
      const std::size_t takes = block_bytes(bytes == 0 ? 1 : bytes);
      void* ptr = nullptr;
      const auto error =
          StackMemoryManager_Allocate(&workspace_, static_cast<std::int32_t>(bytes), &ptr);
      ASSERT_EQ(error, in_use + takes <= kBytes ? kTvmErrorNoError : kTvmErrorPlatformNoMemory);
      if (error != kTvmErrorNoError) {
        ++exhausted;
        continue;
      }
      ASSERT_EQ(ptr, workspace_.workspace + in_use);
      in_use += takes;
      high_water = std::max(high_water, in_use);
      live.push_back({static_cast<std::uint8_t*>(ptr), bytes, static_cast<std::uint8_t>(random())});
      std::memset(ptr, live.back().fill, bytes);
    } else if (!live.empty()) {
      if (kChecked && live.size() > 1 && draw % 7 == 0) {
        void* wrong = live[random() % (live.size() - 1)].ptr;
        ASSERT_EQ(free_block(wrong), kTvmErrorPlatformStackAllocBadFree);
      }
      const Block block = live.back();
      live.pop_back();
      for (std::size_t i = 0; i < block.bytes; ++i) ASSERT_EQ(block.ptr[i], block.fill);
      ASSERT_EQ(free_block(block.ptr), kTvmErrorNoError);
      in_use -= block_bytes(block.bytes == 0 ? 1 : block.bytes);
    }
    ASSERT_EQ(used(), in_use);
    ASSERT_EQ(workspace_.high_water_bytes, high_water);
  }
  EXPECT_GT(exhausted, 0);
}

}  // namespace
