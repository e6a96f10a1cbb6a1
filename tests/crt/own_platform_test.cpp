// SPDX-License-Identifier: Apache-2.0
// An application that brings its own TVMPlatformMemory*, here over the page allocator: it links
// with the whole library, and its definitions are the ones that a model reaches.
#include <gtest/gtest.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/logging.h>
#include <tvm/runtime/crt/page_allocator.h>
#include <tvm/runtime/crt/platform.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "model/workspace_model.h"

namespace {

alignas(16) std::uint8_t pool[2048];
MemoryManagerInterface* manager = nullptr;
int allocations = 0;
DLDevice last_device{};
std::string logged;

}  // namespace

extern "C" {

void TVMLogf(const char* fmt, ...) {
  std::array<char, 64> text;
  va_list args;
  va_start(args, fmt);
  std::vsnprintf(text.data(), text.size(), fmt, args);
  va_end(args);
  logged += text.data();
}

tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice device, void** out_ptr) {
  ++allocations;
  last_device = device;
  return manager->Allocate(manager, num_bytes, device, out_ptr);
}

tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice device) {
  return manager->Free(manager, ptr, device);
}

}  // extern "C"

namespace {

TEST(OwnPlatform, ModelUsesItAndLeaksNothing) {
  ASSERT_EQ(PageMemoryManagerCreate(&manager, pool, sizeof(pool), 6), kTvmErrorNoError);
  std::array<std::int8_t, WORKSPACE_MODEL_INPUT_ELEMENTS> input;
  input.fill(2);
  std::int64_t output = 0;
  EXPECT_EQ(workspace_model_run(input.data(), &output), 0);
  EXPECT_EQ(output, 6 * 16 * 16);
  EXPECT_EQ(allocations, 2);
  EXPECT_EQ(manager->vleak_size, 0);
}

TEST(OwnPlatform, DeviceIsPassedOnAndAnyOrderOfFreesIsFine) {
  ASSERT_EQ(PageMemoryManagerCreate(&manager, pool, sizeof(pool), 6), kTvmErrorNoError);
  void* a = TVMBackendAllocWorkspace(kDLExtDev, 3, 10, 2, 8);
  EXPECT_EQ(last_device.device_type, kDLExtDev);
  EXPECT_EQ(last_device.device_id, 3);
  void* b = TVMBackendAllocWorkspace(1, 0, 10, 2, 8);
  EXPECT_EQ(manager->vleak_size, 2);
  EXPECT_EQ(TVMBackendFreeWorkspace(kDLExtDev, 3, a), 0);
  EXPECT_EQ(TVMBackendFreeWorkspace(kDLExtDev, 3, a), kTvmErrorPlatformStackAllocBadFree);
  EXPECT_EQ(TVMBackendFreeWorkspace(1, 0, b), 0);
  EXPECT_EQ(manager->vleak_size, 0);
}

TEST(OwnPlatform, LogsWhatIsUpToTheLevel) {
  static_assert(TVM_CRT_LOG_LEVEL == TVM_CRT_LOG_LEVEL_ERROR);
  logged.clear();
  TVM_CRT_LOGF(TVM_CRT_LOG_LEVEL_ERROR, "error %d\n", 3);
  TVM_CRT_LOGF(TVM_CRT_LOG_LEVEL_WARN, "warning\n");
  EXPECT_EQ(logged, "error 3\n");
}

}  // namespace
