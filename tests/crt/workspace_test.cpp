// SPDX-License-Identifier: Apache-2.0
// The way from a model's TVMBackendAllocWorkspace to the stack binding and back, with a static
// workspace (TVM_WORKSPACE_SIZE_BYTES above 0) and with memory that the application gives.
//
// The binding's state is the program's: each case ends with no live block.
#include <aotc_crt/platform_stack.h>
#include <gtest/gtest.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/crt_config.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/stack_allocator.h>

#include <sys/time.h>
#include <array>
#include <csignal>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "model/workspace_model.h"

namespace {

constexpr std::size_t kWorkspaceAlign = TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES;
constexpr std::size_t kModelBytes =
    TVM_CRT_STACK_ALLOCATOR_BLOCK_BYTES(WORKSPACE_MODEL_SQUARES_BYTES) +
    TVM_CRT_STACK_ALLOCATOR_BLOCK_BYTES(WORKSPACE_MODEL_SUMS_BYTES);

// Memory that begins at a multiple of the alignment and that AddressSanitizer guards.
struct Buffer {
  explicit Buffer(std::size_t bytes)
      : size(bytes), memory(std::make_unique<std::uint8_t[]>(bytes + kWorkspaceAlign - 1)) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory.get());
    data = memory.get() + (kWorkspaceAlign - address % kWorkspaceAlign) % kWorkspaceAlign;
  }
  std::size_t size;
  std::unique_ptr<std::uint8_t[]> memory;
  std::uint8_t* data;
};

void run_model_and_check() {
  std::array<std::int8_t, WORKSPACE_MODEL_INPUT_ELEMENTS> input;
  std::int64_t expected = 0;
  for (std::size_t i = 0; i < input.size(); ++i) {
    input[i] = static_cast<std::int8_t>(static_cast<int>(i * 11) - 128);
  }
  for (std::size_t group = 0; group < input.size(); group += 4) {
    std::int64_t sum = 0;
    for (std::size_t i = group; i < group + 4; ++i) sum += input[i] * input[i];
    expected += sum * sum;
  }
  std::int64_t output = -1;
  ASSERT_EQ(workspace_model_run(input.data(), &output), 0) << TVMGetLastError();
  EXPECT_EQ(output, expected);
}

// Death tests run first and in a fresh state, so this sees the program before any call.
TEST(WorkspaceDeathTest, FirstAllocationTakesTheStaticWorkspaceIfThereIsOne) {
  const auto first_use = [] {
    void* ptr = TVMBackendAllocWorkspace(1, 0, 8, 2, 8);
#if TVM_WORKSPACE_SIZE_BYTES > 0
    if (ptr == nullptr || TVMBackendFreeWorkspace(1, 0, ptr) != 0) std::_Exit(1);
    // All of the promised bytes, whatever alignment took.
    ptr = TVMBackendAllocWorkspace(1, 0, TVM_WORKSPACE_SIZE_BYTES - 4, 2, 8);
    if (ptr == nullptr) std::_Exit(2);
    std::memset(ptr, 1, TVM_WORKSPACE_SIZE_BYTES - 4);
    if (TVMBackendFreeWorkspace(1, 0, ptr) != 0) std::_Exit(3);
    if (TVMBackendAllocWorkspace(1, 0, TVM_WORKSPACE_SIZE_BYTES + kWorkspaceAlign, 2, 8) != nullptr) {
      std::_Exit(4);
    }
#else
    if (ptr != nullptr) std::_Exit(1);
    if (TVMPlatformInitialize() != kTvmErrorPlatformNoMemory) std::_Exit(2);
#endif
    if (TVMGetLastError()[0] == '\0') std::_Exit(5);
    std::_Exit(0);
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(first_use(), testing::ExitedWithCode(0), "");
}

TEST(WorkspaceDeathTest, AbortDoesNotReturn) {
  const auto abort_until_alarm = [] {
    itimerval timer{};
    timer.it_value.tv_usec = 50000;
    setitimer(ITIMER_REAL, &timer, nullptr);
    TVMPlatformAbort(kTvmErrorPlatformCheckFailure);
  };
  EXPECT_EXIT(abort_until_alarm(), testing::KilledBySignal(SIGALRM), "");
}

TEST(Workspace, ModelRunsInExactlyTheBytesThatTheBlockMacroAddsUp) {
  Buffer buffer(kModelBytes);
  ASSERT_EQ(AotcPlatformStackUse(buffer.data, buffer.size), kTvmErrorNoError);
  EXPECT_EQ(TVMPlatformInitialize(), kTvmErrorNoError) << "keeps the memory in use";
  for (int run = 0; run < 3; ++run) run_model_and_check();
  EXPECT_EQ(AotcPlatformStackHighWaterBytes(), kModelBytes);
}

TEST(Workspace, ModelReportsOneByteTooFewAndLeavesNothingLive) {
  Buffer buffer(kModelBytes - 1);
  ASSERT_EQ(AotcPlatformStackUse(buffer.data, buffer.size), kTvmErrorNoError);
  TVMAPISetLastError("");
  std::array<std::int8_t, WORKSPACE_MODEL_INPUT_ELEMENTS> input{};
  std::int64_t output = 0;
  EXPECT_EQ(workspace_model_run(input.data(), &output), -1);
  EXPECT_EQ(std::string(TVMGetLastError()),
            std::string("workspace too small for the model [crt-workspace-full]")
                .substr(0, TVM_CRT_LAST_ERROR_BYTES - 1));
  Buffer larger(kModelBytes);
  ASSERT_EQ(AotcPlatformStackUse(larger.data, larger.size), kTvmErrorNoError);
  run_model_and_check();
}

TEST(Workspace, MemoryIsNotExchangedUnderALiveBlock) {
  Buffer first(4 * kWorkspaceAlign);
  Buffer second(4 * kWorkspaceAlign);
  ASSERT_EQ(AotcPlatformStackUse(first.data, first.size), kTvmErrorNoError);
  void* ptr = TVMBackendAllocWorkspace(1, 0, 1, 2, 8);
  EXPECT_EQ(ptr, first.data);
  EXPECT_EQ(AotcPlatformStackUse(second.data, second.size),
            kTvmErrorPlatformMemoryManagerInitialized);
  EXPECT_EQ(TVMBackendFreeWorkspace(1, 0, ptr), 0);
  EXPECT_EQ(AotcPlatformStackUse(nullptr, 4), kTvmErrorPlatformCheckFailure);
  EXPECT_EQ(AotcPlatformStackUse(second.data, second.size), kTvmErrorNoError);
  EXPECT_EQ(AotcPlatformStackHighWaterBytes(), 0u);
  ptr = TVMBackendAllocWorkspace(1, 0, 1, 2, 8);
  EXPECT_EQ(ptr, second.data);
  EXPECT_EQ(TVMBackendFreeWorkspace(1, 0, ptr), 0);
}

TEST(Workspace, SizesThatNoMemoryHasGiveNull) {
  Buffer buffer(4 * kWorkspaceAlign);
  ASSERT_EQ(AotcPlatformStackUse(buffer.data, buffer.size), kTvmErrorNoError);
  const std::uint64_t one = 1;
  for (std::uint64_t bytes : {4 * kWorkspaceAlign + one, one << 31, one << 32, (one << 32) + 1, one << 63,
                              std::numeric_limits<std::uint64_t>::max()}) {
    TVMAPISetLastError("");
    EXPECT_EQ(TVMBackendAllocWorkspace(1, 0, bytes, 2, 8), nullptr) << bytes;
    EXPECT_STRNE(TVMGetLastError(), "");
  }
  EXPECT_EQ(TVMPlatformMemoryAllocate(1, DLDevice{kDLCPU, 0}, nullptr),
            kTvmErrorPlatformCheckFailure);
}

TEST(Workspace, BadFreeReturnsTheCodeAndItsText) {
  Buffer buffer(4 * kWorkspaceAlign);
  ASSERT_EQ(AotcPlatformStackUse(buffer.data, buffer.size), kTvmErrorNoError);
  void* ptr = TVMBackendAllocWorkspace(1, 0, 1, 2, 8);
  int elsewhere = 0;
  TVMAPISetLastError("");
  EXPECT_EQ(TVMBackendFreeWorkspace(1, 0, &elsewhere), kTvmErrorPlatformStackAllocBadFree);
  EXPECT_EQ(std::string(TVMGetLastError()),
            std::string("workspace free: wrong order or pointer [crt-workspace-free]")
                .substr(0, TVM_CRT_LAST_ERROR_BYTES - 1));
  EXPECT_EQ(TVMBackendFreeWorkspace(1, 0, ptr), 0);
  EXPECT_EQ(TVMBackendFreeWorkspace(1, 0, ptr), kTvmErrorPlatformStackAllocBadFree);
}

TEST(LastError, KeepsACopyCutToItsSize) {
  char text[] = "text";
  TVMAPISetLastError(text);
  text[0] = 'n';
  EXPECT_STREQ(TVMGetLastError(), "text");
  TVMAPISetLastError(nullptr);
  EXPECT_STREQ(TVMGetLastError(), "");
  const std::string fits(TVM_CRT_LAST_ERROR_BYTES - 1, 'x');
  TVMAPISetLastError(fits.c_str());
  EXPECT_EQ(TVMGetLastError(), fits);
  TVMAPISetLastError((fits + "yz").c_str());
  EXPECT_EQ(TVMGetLastError(), fits);
  TVMAPISetLastError("");
  EXPECT_STREQ(TVMGetLastError(), "");
}

}  // namespace
