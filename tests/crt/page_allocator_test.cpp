// SPDX-License-Identifier: Apache-2.0
// The page allocator: placement, joining of free runs, bad frees, a damaged table, and a random
// comparison with a bitmap of pages that is too simple to be wrong.
#include <gtest/gtest.h>
#include <tvm/runtime/crt/page_allocator.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace {

constexpr std::size_t kPageAlign = TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES;
constexpr std::size_t kPageLog2 = 7;
constexpr std::size_t kPage = std::size_t{1} << kPageLog2;
constexpr DLDevice kCpu = {kDLCPU, 0};

// A pool on the heap, where AddressSanitizer guards both ends, and calls without the boilerplate.
class Pool {
 public:
  explicit Pool(std::size_t bytes, std::size_t page_size_log2 = kPageLog2, std::size_t shift = 0)
      : memory_(std::make_unique<std::uint8_t[]>(bytes + shift)) {
    std::memset(memory_.get(), 0xc3, bytes + shift);
    error_ = PageMemoryManagerCreate(&manager_, memory_.get() + shift, bytes, page_size_log2);
  }

  tvm_crt_error_t error() const { return error_; }
  MemoryManagerInterface* manager() { return manager_; }
  std::uint8_t* begin() { return memory_.get(); }
  int live() const { return manager_->vleak_size; }

  // NULL when the pool has no room, which must be the reason.
  std::uint8_t* allocate(std::size_t bytes) {
    void* ptr = this;
    const auto error = manager_->Allocate(manager_, bytes, kCpu, &ptr);
    EXPECT_EQ(error, ptr == nullptr ? kTvmErrorPlatformNoMemory : kTvmErrorNoError);
    return static_cast<std::uint8_t*>(ptr);
  }
  tvm_crt_error_t free_block(void* ptr) { return manager_->Free(manager_, ptr, kCpu); }

  // Pages in all, asked of the allocator by taking them one by one.
  std::size_t count_pages() {
    std::vector<std::uint8_t*> blocks;
    while (std::uint8_t* block = allocate(1)) blocks.push_back(block);
    for (std::uint8_t* block : blocks) EXPECT_EQ(free_block(block), kTvmErrorNoError);
    return blocks.size();
  }

 private:
  std::unique_ptr<std::uint8_t[]> memory_;
  MemoryManagerInterface* manager_ = nullptr;
  tvm_crt_error_t error_;
};

TEST(PageAllocator, TakesTheFirstRunThatIsLongEnough) {
  Pool pool(32 * kPage);
  std::uint8_t* a = pool.allocate(2 * kPage);
  std::uint8_t* b = pool.allocate(1);
  std::uint8_t* c = pool.allocate(3 * kPage);
  std::uint8_t* d = pool.allocate(kPage + 1);
  EXPECT_EQ(b, a + 2 * kPage);
  EXPECT_EQ(c, b + kPage);
  EXPECT_EQ(d, c + 3 * kPage);
  EXPECT_EQ(pool.free_block(a), kTvmErrorNoError);
  EXPECT_EQ(pool.free_block(c), kTvmErrorNoError);
  EXPECT_EQ(pool.live(), 2);
  // 3 pages do not fit the 2 of a; then 1 page does, though c's hole is there too.
  EXPECT_EQ(pool.allocate(3 * kPage), c);
  EXPECT_EQ(pool.allocate(kPage), a);
  EXPECT_EQ(pool.allocate(kPage), a + kPage);
  EXPECT_EQ(pool.allocate(kPage), d + 2 * kPage);
}

TEST(PageAllocator, FreedRunsJoinTheirNeighboursInEveryOrder) {
  std::vector<int> order = {0, 1, 2, 3};
  do {
    Pool pool(8 * kPage + 64 + kPageAlign);
    const std::size_t pages = pool.count_pages();
    ASSERT_GE(pages, 7u);
    std::vector<std::uint8_t*> blocks;
    for (int i = 0; i < 3; ++i) blocks.push_back(pool.allocate(kPage));
    blocks.push_back(pool.allocate((pages - 3) * kPage));
    ASSERT_EQ(pool.live(), 4);
    EXPECT_EQ(pool.allocate(1), nullptr);
    for (int i : order) {
      ASSERT_EQ(pool.free_block(blocks[static_cast<std::size_t>(i)]), kTvmErrorNoError);
    }
    EXPECT_EQ(pool.live(), 0);
    EXPECT_EQ(pool.allocate(pages * kPage), blocks[0]);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(PageAllocator, FragmentedPoolRefusesALongRunUntilAHoleCloses) {
  Pool pool(16 * kPage);
  const std::size_t pages = pool.count_pages();
  std::vector<std::uint8_t*> blocks;
  for (std::size_t i = 0; i < pages; ++i) blocks.push_back(pool.allocate(kPage));
  for (std::size_t i = 0; i < pages; i += 2) {
    EXPECT_EQ(pool.free_block(blocks[i]), kTvmErrorNoError);
  }
  // Half of the pool is free, and nowhere two pages in a row.
  EXPECT_EQ(pool.allocate(kPage + 1), nullptr);
  EXPECT_EQ(pool.free_block(blocks[5]), kTvmErrorNoError);
  EXPECT_EQ(pool.allocate(3 * kPage), blocks[4]);
}

TEST(PageAllocator, BadFreesAreRefusedAndChangeNothing) {
  Pool pool(16 * kPage);
  std::uint8_t* a = pool.allocate(2 * kPage);
  std::uint8_t* b = pool.allocate(kPage);
  int elsewhere = 0;
  for (void* ptr : std::initializer_list<void*>{
           nullptr, &elsewhere, a + 1, a + kPage, b + kPage, a + 1000 * kPage, pool.begin(),
           reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(a) - kPage)}) {
    EXPECT_EQ(pool.free_block(ptr), kTvmErrorPlatformStackAllocBadFree) << ptr;
  }
  EXPECT_EQ(pool.live(), 2);
  EXPECT_EQ(pool.free_block(a), kTvmErrorNoError);
  EXPECT_EQ(pool.free_block(a), kTvmErrorPlatformStackAllocBadFree);
  EXPECT_EQ(pool.free_block(b), kTvmErrorNoError);
  // b is now in the middle of one free run.
  EXPECT_EQ(pool.free_block(b), kTvmErrorPlatformStackAllocBadFree);
  EXPECT_EQ(pool.live(), 0);
}

TEST(PageAllocator, BlocksAreAlignedAndInsideWhereverThePoolBegins) {
  for (std::size_t shift = 0; shift < kPageAlign; ++shift) {
    Pool pool(6 * kPage, kPageLog2, shift);
    ASSERT_EQ(pool.error(), kTvmErrorNoError);
    int blocks = 0;
    while (std::uint8_t* block = pool.allocate(kPage)) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % kPageAlign, 0u) << "shift " << shift;
      ASSERT_LE(block + kPage, pool.begin() + shift + 6 * kPage);
      std::memset(block, 0xff, kPage);
      ++blocks;
    }
    EXPECT_GE(blocks, 4) << "shift " << shift;
    EXPECT_EQ(pool.live(), blocks);
  }
}

TEST(PageAllocator, UsesAllPagesThatFit) {
  // What one page more would need, from the size of the table and the largest header there can be.
  for (std::size_t bytes = 256; bytes < 40 * kPage; bytes += 13) {
    Pool pool(bytes);
    if (pool.error() != kTvmErrorNoError) {
      EXPECT_EQ(pool.error(), kTvmErrorPlatformNoMemory);
      EXPECT_LT(bytes, kPage + 64 + 2 + 2 * kPageAlign);
      continue;
    }
    const std::size_t pages = pool.count_pages();
    EXPECT_GE(pages, 1u);
    EXPECT_LT(bytes, (pages + 1) * (kPage + 2) + 64 + 2 * kPageAlign) << bytes;
  }
}

TEST(PageAllocator, HugeRequestsAreRefused) {
  Pool pool(8 * kPage);
  const std::size_t max = std::numeric_limits<std::size_t>::max();
  for (std::size_t bytes : {max, max - 1, max - kPage + 1, max / 2, 8 * kPage}) {
    EXPECT_EQ(pool.allocate(bytes), nullptr) << bytes;
  }
  EXPECT_EQ(pool.live(), 0);
  std::uint8_t* empty = pool.allocate(0);
  ASSERT_NE(empty, nullptr);
  EXPECT_EQ(pool.allocate(0), empty + kPage);
}

TEST(PageAllocator, BoundsOfCreateAreChecked) {
  const auto create = [](std::size_t bytes, std::size_t log2) { return Pool(bytes, log2).error(); };
  EXPECT_EQ(create(64, kPageLog2), kTvmErrorPlatformNoMemory);
  EXPECT_EQ(create(1, kPageLog2), kTvmErrorPlatformNoMemory);
  EXPECT_EQ(create(4096, 63), kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(create(4096, 64), kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(create(4096, 1000), kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(create(4096, 62), kTvmErrorPlatformNoMemory);
  EXPECT_EQ(create(4096, 2), kTvmErrorPlatformCheckFailure) << "a page below the alignment";

  std::uint8_t byte = 0;
  MemoryManagerInterface* manager = nullptr;
  EXPECT_EQ(PageMemoryManagerCreate(nullptr, &byte, 1, kPageLog2), kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(PageMemoryManagerCreate(&manager, nullptr, 1, kPageLog2),
            kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(
      PageMemoryManagerCreate(&manager, &byte, std::numeric_limits<std::size_t>::max(), kPageLog2),
      kTvmErrorPlatformCheckFailure);

  Pool pool(8 * kPage);
  void* ptr = nullptr;
  auto* interface = pool.manager();
  EXPECT_EQ(interface->Allocate(interface, 1, kCpu, nullptr), kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(interface->Allocate(nullptr, 1, kCpu, &ptr), kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(interface->Free(nullptr, &byte, kCpu), kTvmErrorPlatformCheckFailure);
}

TEST(PageAllocator, TooManyPagesAreRefusedAndTheLargestTableWorks) {
  const std::size_t max = TVM_CRT_PAGE_ALLOCATOR_MAX_PAGES;
  const std::size_t bytes = max * (kPage + 2) + 64 + 2 * kPageAlign;
  EXPECT_EQ(Pool(bytes + 2 * kPage).error(), kTvmErrorPlatformCheckFailure);
  Pool pool(max * (kPage + 2) + 32);
  ASSERT_EQ(pool.error(), kTvmErrorNoError);
  std::uint8_t* all = pool.allocate((max - 1) * kPage);
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(pool.free_block(all), kTvmErrorNoError);
  EXPECT_EQ(pool.allocate(1), all);
}

TEST(PageAllocator, OverwrittenTableIsReportedNotFollowed) {
  for (std::uint16_t damage : std::initializer_list<std::uint16_t>{0, 0x8000, 0x7fff, 0xffff}) {
    Pool pool(64 * kPage);
    const std::size_t pages = pool.count_pages();
    std::uint8_t* a = pool.allocate(kPage);
    std::uint8_t* b = pool.allocate(kPage);
    // The table is found by what it must hold now: two live pages and the free rest.
    const std::uint16_t entries[] = {0x8001, 0x8001, static_cast<std::uint16_t>(pages - 2)};
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(entries);
    std::uint8_t* table = std::search(pool.begin(), a, bytes, bytes + sizeof(entries));
    ASSERT_NE(table, a);
    std::memcpy(table + 4, &damage, sizeof(damage));

    void* ptr = this;
    EXPECT_EQ(pool.manager()->Allocate(pool.manager(), 1, kCpu, &ptr),
              kTvmErrorPlatformCheckFailure);
    EXPECT_EQ(ptr, nullptr);
    EXPECT_EQ(pool.free_block(b + 3 * kPage), kTvmErrorPlatformCheckFailure);
    EXPECT_EQ(pool.free_block(b), kTvmErrorPlatformCheckFailure);
    EXPECT_EQ(pool.live(), 2);
    // What lies before the damage still works.
    EXPECT_EQ(pool.free_block(a), kTvmErrorNoError);
    EXPECT_EQ(pool.allocate(kPage), a);
  }
}

TEST(PageAllocator, RandomUseAgreesWithABitmap) {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    Pool pool((8 + random() % 120) * kPage + random() % kPage, kPageLog2, random() % kPageAlign);
    ASSERT_EQ(pool.error(), kTvmErrorNoError);
    std::vector<bool> taken(pool.count_pages(), false);
    std::uint8_t* const base = pool.allocate(1);
    ASSERT_EQ(pool.free_block(base), kTvmErrorNoError);

    struct Block {
      std::size_t pages, bytes;
      std::uint8_t fill;
    };
    std::map<std::size_t, Block> live;  // by first page
    int refused = 0;
    for (int step = 0; step < 6000; ++step) {
      const auto draw = random() % 100;
      if (draw < 50) {
        const std::size_t bytes = random() % (draw < 5 ? 40 * kPage : 6 * kPage);
        const std::size_t pages = bytes == 0 ? 1 : (bytes + kPage - 1) / kPage;
        const std::vector<bool> hole(pages, false);
        const auto found = std::search(taken.begin(), taken.end(), hole.begin(), hole.end());
        std::uint8_t* block = pool.allocate(bytes);
        if (found == taken.end()) {
          ASSERT_EQ(block, nullptr);
          ++refused;
          continue;
        }
        const auto first = static_cast<std::size_t>(found - taken.begin());
        ASSERT_EQ(block, base + first * kPage);
        std::fill_n(found, pages, true);
        live[first] = {pages, bytes, static_cast<std::uint8_t>(random())};
        std::memset(block, live[first].fill, bytes);
      } else if (draw < 95) {
        if (live.empty()) continue;
        const auto it = std::next(live.begin(), static_cast<long>(random() % live.size()));
        const auto [first, block] = *it;
        for (std::size_t i = 0; i < block.bytes; ++i) {
          ASSERT_EQ(base[first * kPage + i], block.fill);
        }
        ASSERT_EQ(pool.free_block(base + first * kPage), kTvmErrorNoError);
        std::fill_n(taken.begin() + static_cast<long>(first), block.pages, false);
        live.erase(it);
      } else {
        const std::size_t page = random() % taken.size();
        if (live.count(page) != 0) continue;
        ASSERT_EQ(pool.free_block(base + page * kPage), kTvmErrorPlatformStackAllocBadFree);
      }
      ASSERT_EQ(pool.live(), static_cast<int>(live.size()));
    }
    EXPECT_GT(refused, 0) << "seed " << seed;
  }
}

}  // namespace
