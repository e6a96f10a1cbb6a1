// SPDX-License-Identifier: Apache-2.0
// Writes to freed memory, which the allocators report with TVM_CRT_DEBUG.
#include <aotc_crt/platform_stack.h>
#include <gtest/gtest.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/page_allocator.h>
#include <tvm/runtime/crt/stack_allocator.h>

#include <cstring>

namespace {

constexpr DLDevice kFreedCpu = {kDLCPU, 0};

alignas(TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES) std::uint8_t memory[1024];

TEST(UsedAfterFree, StackReportsItOnceTheMemoryIsWantedAgain) {
  tvm_workspace_t stack;
  ASSERT_EQ(StackMemoryManager_Init(&stack, memory, sizeof(memory)), kTvmErrorNoError);
  void* block = nullptr;
  void* newer = nullptr;
  ASSERT_EQ(StackMemoryManager_Allocate(&stack, 40, &block), kTvmErrorNoError);
  ASSERT_EQ(StackMemoryManager_Allocate(&stack, 100, &newer), kTvmErrorNoError);
  std::memset(newer, 1, 100);
  ASSERT_EQ(StackMemoryManager_Free(&stack, newer), kTvmErrorNoError);
  auto* byte = static_cast<std::uint8_t*>(newer) + 60;
  const std::uint8_t before = *byte;
  *byte = 1;
  void* again = nullptr;
  EXPECT_EQ(StackMemoryManager_Allocate(&stack, 40, &again), kTvmErrorNoError) << "short of it";
  EXPECT_EQ(StackMemoryManager_Free(&stack, again), kTvmErrorNoError);
  EXPECT_EQ(StackMemoryManager_Allocate(&stack, 100, &again), kTvmErrorPlatformUsedAfterFree);
  EXPECT_EQ(again, nullptr);
  *byte = before;
  EXPECT_EQ(StackMemoryManager_Allocate(&stack, 100, &again), kTvmErrorNoError);
  EXPECT_EQ(StackMemoryManager_Free(&stack, again), kTvmErrorNoError);
  EXPECT_EQ(StackMemoryManager_Free(&stack, again), kTvmErrorPlatformStackAllocBadFree);
  EXPECT_EQ(StackMemoryManager_Free(&stack, block), kTvmErrorNoError);
}

TEST(UsedAfterFree, PagesReportItOnceTheyAreWantedAgain) {
  MemoryManagerInterface* manager = nullptr;
  ASSERT_EQ(PageMemoryManagerCreate(&manager, memory, sizeof(memory), 6), kTvmErrorNoError);
  void* block = nullptr;
  ASSERT_EQ(manager->Allocate(manager, 200, kFreedCpu, &block), kTvmErrorNoError);
  std::memset(block, 1, 200);
  ASSERT_EQ(manager->Free(manager, block, kFreedCpu), kTvmErrorNoError);
  static_cast<std::uint8_t*>(block)[64] = 0;
  void* again = nullptr;
  EXPECT_EQ(manager->Allocate(manager, 64, kFreedCpu, &again), kTvmErrorNoError) << "the page before";
  EXPECT_EQ(manager->Free(manager, again, kFreedCpu), kTvmErrorNoError);
  EXPECT_EQ(manager->Allocate(manager, 65, kFreedCpu, &again), kTvmErrorPlatformUsedAfterFree);
  EXPECT_EQ(again, nullptr);
  EXPECT_EQ(manager->vleak_size, 0);
}

TEST(UsedAfterFree, ModelsSeeItAsAWorkspaceThatIsNotThere) {
  ASSERT_EQ(AotcPlatformStackUse(memory, sizeof(memory)), kTvmErrorNoError);
  void* block = TVMBackendAllocWorkspace(1, 0, 32, 2, 8);
  ASSERT_NE(block, nullptr);
  ASSERT_EQ(TVMBackendFreeWorkspace(1, 0, block), 0);
  std::memset(block, 5, 1);
  EXPECT_EQ(TVMBackendAllocWorkspace(1, 0, 32, 2, 8), nullptr);
  EXPECT_EQ(std::string(TVMGetLastError()),
            std::string("workspace written to after its free [crt-workspace-used]")
                .substr(0, TVM_CRT_LAST_ERROR_BYTES - 1));
}

}  // namespace
