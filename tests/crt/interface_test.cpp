// SPDX-License-Identifier: Apache-2.0
// The values and layouts that emitted C, archives and a host on the other end of a wire rely on.
// The headers are included from C++ here and from C, one by one, by portability_test.cpp.
#include <aotc_crt/platform_stack.h>
#include <gtest/gtest.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/crt_config.h>
#include <tvm/runtime/crt/error_codes.h>
#include <tvm/runtime/crt/func_registry.h>
#include <tvm/runtime/crt/logging.h>
#include <tvm/runtime/crt/module.h>
#include <tvm/runtime/crt/page_allocator.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/stack_allocator.h>

#include <climits>
#include <cstddef>
#include <type_traits>

namespace {

constexpr int code(tvm_crt_error_category_t category, int number) {
  return (static_cast<int>(category) << 8) | number;
}

TEST(Interface, ErrorCodesAreCategoryAndNumber) {
  EXPECT_EQ(kTvmErrorNoError, 0);
  EXPECT_EQ(kTvmErrorBufferTooSmall, code(kTvmErrorCategoryFunctionRegistry, 4));
  EXPECT_EQ(kTvmErrorFramingPayloadIncomplete, code(kTvmErrorCategoryFraming, 4));
  EXPECT_EQ(kTvmErrorWriteStreamLongWrite, code(kTvmErrorCategoryWriteStream, 1));
  EXPECT_EQ(kTvmErrorSessionReceiveBufferShortWrite, code(kTvmErrorCategorySession, 2));
  EXPECT_EQ(kTvmErrorPlatformCheckFailure, code(kTvmErrorCategoryPlatform, 0));
  EXPECT_EQ(kTvmErrorPlatformMemoryManagerInitialized, code(kTvmErrorCategoryPlatform, 1));
  EXPECT_EQ(kTvmErrorPlatformNoMemory, code(kTvmErrorCategoryPlatform, 3));
  EXPECT_EQ(kTvmErrorPlatformStackAllocBadFree, code(kTvmErrorCategoryPlatform, 5));
  EXPECT_EQ(kTvmErrorPlatformUsedAfterFree, code(kTvmErrorCategoryPlatform, 0x40));
  EXPECT_EQ(kTvmErrorGeneratedInvalidStorageId, code(kTvmErrorCategoryGenerated, 0));
  EXPECT_EQ(kTvmErrorExecutorModuleNoSuchInput, code(kTvmErrorCategoryExecutor, 2));
  EXPECT_EQ(kTvmErrorFunctionCallInvalidArg, code(kTvmErrorCategoryFunctionCall, 3));
  EXPECT_EQ(kTvmErrorTimeEvaluatorBadHandle, code(kTvmErrorCategoryTimeEvaluator, 0));
  EXPECT_EQ(kTvmErrorSystemErrorMask, INT_MIN);
}

TEST(Interface, ArgumentTypeCodes) {
  EXPECT_EQ(kTVMArgInt, 0);
  EXPECT_EQ(kTVMArgFloat, 2);
  EXPECT_EQ(kTVMOpaqueHandle, 3);
  EXPECT_EQ(kTVMNullptr, 4);
  EXPECT_EQ(kTVMDataType, 5);
  EXPECT_EQ(kDLDevice, 6);
  EXPECT_EQ(kTVMDLTensorHandle, 7);
  EXPECT_EQ(kTVMObjectHandle, 8);
  EXPECT_EQ(kTVMModuleHandle, 9);
  EXPECT_EQ(kTVMPackedFuncHandle, 10);
  EXPECT_EQ(kTVMStr, 11);
  EXPECT_EQ(kTVMBytes, 12);
  EXPECT_EQ(kTVMNDArrayHandle, 13);
  EXPECT_EQ(kTVMObjectRValueRefArg, 14);
}

TEST(Interface, LayoutsAreThoseOfDlpack) {
  EXPECT_EQ(sizeof(TVMValue), 8u);
  EXPECT_EQ(sizeof(DLDataType), 4u);
  EXPECT_EQ(offsetof(DLDataType, bits), 1u);
  EXPECT_EQ(offsetof(DLDataType, lanes), 2u);
  EXPECT_EQ(sizeof(DLDevice), 8u);
  EXPECT_EQ(offsetof(DLDevice, device_id), 4u);
  EXPECT_EQ(kDLCPU, 1);
  const std::size_t pointer = sizeof(void*);
  EXPECT_EQ(offsetof(DLTensor, data), 0u);
  EXPECT_EQ(offsetof(DLTensor, device), pointer);
  EXPECT_EQ(offsetof(DLTensor, ndim), pointer + 8);
  EXPECT_EQ(offsetof(DLTensor, dtype), pointer + 12);
  EXPECT_EQ(offsetof(DLTensor, shape), pointer + 16);
  EXPECT_EQ(offsetof(DLTensor, strides), 2 * pointer + 16);
  EXPECT_EQ(offsetof(DLTensor, byte_offset), 3 * pointer + 16);
}

TEST(Interface, RegistriesBeginAsThoseOfTvm) {
  EXPECT_EQ(offsetof(TVMFuncRegistry, names), 0u);
  EXPECT_EQ(offsetof(TVMFuncRegistry, funcs), sizeof(void*));
  EXPECT_EQ(offsetof(TVMFuncRegistry, hashes), 2 * sizeof(void*));
  EXPECT_EQ(offsetof(TVMFuncRegistry, offsets), 3 * sizeof(void*));
  EXPECT_EQ(sizeof(TVMModule), sizeof(void*));
  static_assert(std::is_same_v<decltype(&TVMSystemLibEntryPoint), const TVMModule* (*)()>);
}

TEST(Interface, SignaturesAreThoseThatEmittedCodeCalls) {
  static_assert(std::is_same_v<decltype(&TVMBackendAllocWorkspace),
                               void* (*)(int, int, std::uint64_t, int, int)>);
  static_assert(std::is_same_v<decltype(&TVMBackendFreeWorkspace), int (*)(int, int, void*)>);
  static_assert(
      std::is_same_v<TVMBackendPackedCFunc, int (*)(TVMValue*, int*, int, TVMValue*, int*, void*)>);
  static_assert(std::is_same_v<decltype(&TVMPlatformMemoryAllocate),
                               tvm_crt_error_t (*)(std::size_t, DLDevice, void**)>);
  static_assert(
      std::is_same_v<decltype(&TVMPlatformMemoryFree), tvm_crt_error_t (*)(void*, DLDevice)>);
  static_assert(
      std::is_same_v<decltype(&TVMFuncGetGlobal), int (*)(const char*, TVMFunctionHandle*)>);
  static_assert(std::is_same_v<decltype(&TVMFuncCall),
                               int (*)(TVMFunctionHandle, TVMValue*, int*, int, TVMValue*, int*)>);
  static_assert(std::is_same_v<decltype(&TVMFuncRegisterGlobal), int (*)(const char*, void*, int)>);
  static_assert(std::is_same_v<decltype(&TVMBackendGetFuncFromEnv),
                               int (*)(void*, const char*, TVMFunctionHandle*)>);
  static_assert(std::is_same_v<decltype(&TVMInitializeRuntime), tvm_crt_error_t (*)()>);
  static_assert(std::is_same_v<decltype(&TVMPlatformTimerStop), tvm_crt_error_t (*)(double*)>);
}

}  // namespace
