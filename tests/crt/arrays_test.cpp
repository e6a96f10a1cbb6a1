// SPDX-License-Identifier: Apache-2.0
// Arrays, data spaces, copies and streams over the stack binding.
#include <aotc_crt/platform_stack.h>
#include <gtest/gtest.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/crt_config.h>
#include <tvm/runtime/crt/platform.h>

#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

namespace {

constexpr DLDevice kHostCpu = {kDLCPU, 0};
constexpr DLDataType kInt8 = {kDLInt, 8, 1};

class Arrays : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(AotcPlatformStackUse(memory_, sizeof(memory_)), kTvmErrorNoError);
  }
  // Everything was given back.
  void TearDown() override {
    EXPECT_EQ(AotcPlatformStackUse(memory_, sizeof(memory_)), kTvmErrorNoError);
  }

  static DLTensor* make(std::vector<tvm_index_t> shape, int bits = 8, int lanes = 1) {
    TVMArrayHandle array = nullptr;
    EXPECT_EQ(TVMArrayAlloc(shape.data(), static_cast<int>(shape.size()), kDLInt, bits, lanes,
                            kDLCPU, 0, &array),
              0)
        << TVMGetLastError();
    return array;
  }

  alignas(TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES) std::uint8_t memory_[4096];
};

TEST_F(Arrays, HaveTheirShapeAndAlignedRoomForTheirElements) {
  DLTensor* array = make({2, 3, 5}, 16, 2);
  ASSERT_NE(array, nullptr);
  EXPECT_EQ(array->ndim, 3);
  EXPECT_EQ(array->shape[0], 2);
  EXPECT_EQ(array->shape[2], 5);
  EXPECT_EQ(array->strides, nullptr);
  EXPECT_EQ(array->byte_offset, 0u);
  EXPECT_EQ(array->dtype.bits, 16);
  EXPECT_EQ(array->dtype.lanes, 2);
  EXPECT_EQ(array->device.device_type, kDLCPU);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array->data) % TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES, 0u);
  std::memset(array->data, 7, 2 * 3 * 5 * 4);
  DLTensor* scalar = make({});
  DLTensor* empty = make({4, 0});
  EXPECT_EQ(array->shape[1], 3) << "elements are not over the shape";
  EXPECT_EQ(TVMArrayFree(empty), 0);
  EXPECT_EQ(TVMArrayFree(scalar), 0);
  EXPECT_EQ(TVMArrayFree(array), 0);
}

TEST_F(Arrays, BadShapesAndTypesAreRefused) {
  const tvm_index_t huge = std::numeric_limits<tvm_index_t>::max();
  const std::vector<std::vector<tvm_index_t>> shapes = {
      {-1}, {huge, huge}, {1 << 20, 1 << 20, 1 << 20, 1 << 20}};
  TVMArrayHandle array = nullptr;
  for (const auto& shape : shapes) {
    EXPECT_EQ(TVMArrayAlloc(shape.data(), static_cast<int>(shape.size()), kDLInt, 8, 1, kDLCPU, 0,
                            &array),
              kTvmErrorFunctionCallInvalidArg);
    EXPECT_EQ(array, nullptr);
  }
  const std::vector<tvm_index_t> ones(TVM_CRT_MAX_NDIM + 1, 1);
  EXPECT_EQ(TVMArrayAlloc(ones.data(), TVM_CRT_MAX_NDIM + 1, kDLInt, 8, 1, kDLCPU, 0, &array),
            kTvmErrorFunctionCallInvalidArg);
  for (int bits : {0, -8, 256}) {
    EXPECT_EQ(TVMArrayAlloc(ones.data(), 1, kDLInt, bits, 1, kDLCPU, 0, &array),
              kTvmErrorFunctionCallInvalidArg);
  }
  EXPECT_EQ(TVMArrayAlloc(ones.data(), 1, kDLInt, 8, 0, kDLCPU, 0, &array),
            kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMArrayAlloc(nullptr, 1, kDLInt, 8, 1, kDLCPU, 0, &array),
            kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMArrayAlloc(ones.data(), -1, kDLInt, 8, 1, kDLCPU, 0, &array),
            kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMArrayAlloc(ones.data(), 1, kDLInt, 8, 1, kDLCPU, 0, nullptr),
            kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMArrayFree(nullptr), kTvmErrorFunctionCallInvalidArg);
}

TEST_F(Arrays, ExhaustionLeavesNothingBehindAndOrderOfFreesIsReported) {
  const std::vector<tvm_index_t> shape = {4090};
  TVMArrayHandle array = nullptr;
  // The header fits, the elements do not.
  EXPECT_EQ(TVMArrayAlloc(shape.data(), 1, kDLInt, 8, 1, kDLCPU, 0, &array),
            kTvmErrorPlatformNoMemory);
  EXPECT_EQ(array, nullptr);
#if TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
  DLTensor* older = make({4});
  DLTensor* newer = make({4});
  EXPECT_EQ(TVMArrayFree(older), kTvmErrorPlatformStackAllocBadFree);
  EXPECT_EQ(TVMArrayFree(newer), 0);
  EXPECT_EQ(TVMArrayFree(older), 0);
#endif
}

TEST_F(Arrays, DataSpaces) {
  void* space = nullptr;
  EXPECT_EQ(TVMDeviceAllocDataSpace(kHostCpu, 100, 8, kInt8, &space), 0);
  std::memset(space, 1, 100);
  EXPECT_EQ(TVMDeviceFreeDataSpace(kHostCpu, space), 0);
  for (std::size_t alignment : {3, 2 * TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES}) {
    EXPECT_EQ(TVMDeviceAllocDataSpace(kHostCpu, 1, alignment, kInt8, &space),
              kTvmErrorFunctionCallInvalidArg);
  }
  EXPECT_EQ(TVMDeviceAllocDataSpace(kHostCpu, 5000, 0, kInt8, &space), kTvmErrorPlatformNoMemory);
  EXPECT_EQ(TVMDeviceAllocDataSpace(kHostCpu, 1, 0, kInt8, nullptr), kTvmErrorFunctionCallInvalidArg);
  const std::int64_t shape[] = {10, 3};
  for (const char* scope : {static_cast<const char*>(nullptr), "", "global"}) {
    EXPECT_EQ(TVMDeviceAllocDataSpaceWithScope(kHostCpu, 2, shape, kInt8, scope, &space), 0);
    std::memset(space, 1, 30);
    EXPECT_EQ(TVMDeviceFreeDataSpace(kHostCpu, space), 0);
  }
  for (const char* scope : {"g", "globa", "global.texture", "local"}) {
    EXPECT_EQ(TVMDeviceAllocDataSpaceWithScope(kHostCpu, 2, shape, kInt8, scope, &space),
              kTvmErrorFunctionCallInvalidArg);
  }
  EXPECT_EQ(TVMDeviceFreeDataSpace(kHostCpu, &space), kTvmErrorPlatformStackAllocBadFree);
}

TEST_F(Arrays, CopiesTakeAsManyBytesAndNoGaps) {
  DLTensor* from = make({3, 4}, 16);
  DLTensor* to = make({24});
  std::iota(static_cast<std::uint8_t*>(from->data), static_cast<std::uint8_t*>(from->data) + 24,
            std::uint8_t{1});
  std::memset(to->data, 0, 24);
  EXPECT_EQ(TVMDeviceCopyDataFromTo(from, to, nullptr), 0);
  EXPECT_EQ(std::memcmp(from->data, to->data, 24), 0);
  // Strides that say row-major are no gaps; others are.
  std::int64_t strides[] = {4, 1};
  from->strides = strides;
  EXPECT_EQ(TVMDeviceCopyDataFromTo(from, to, nullptr), 0);
  strides[0] = 5;
  EXPECT_EQ(TVMDeviceCopyDataFromTo(from, to, nullptr), kTvmErrorFunctionCallInvalidArg);
  from->strides = nullptr;
  // A part of the bytes, by byte_offset.
  DLTensor part = *from;
  std::int64_t two = 2;
  part.shape = &two;
  part.ndim = 1;
  part.byte_offset = 20;
  EXPECT_EQ(TVMDeviceCopyDataFromTo(&part, to, nullptr), kTvmErrorFunctionCallInvalidArg);
  std::int64_t four = 4;
  to->shape[0] = four;
  to->byte_offset = 8;
  EXPECT_EQ(TVMDeviceCopyDataFromTo(&part, to, nullptr), 0);
  const auto* bytes = static_cast<const std::uint8_t*>(to->data);
  EXPECT_EQ(bytes[7], 8);
  EXPECT_EQ(bytes[8], 21);
  EXPECT_EQ(bytes[11], 24);
  EXPECT_EQ(bytes[12], 13);
  EXPECT_EQ(TVMDeviceCopyDataFromTo(nullptr, to, nullptr), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMArrayFree(to), 0);
  EXPECT_EQ(TVMArrayFree(from), 0);
}

TEST_F(Arrays, ByteArrays) {
  void* block = nullptr;
  void* data = nullptr;
  ASSERT_EQ(TVMPlatformMemoryAllocate(sizeof(TVMByteArray), kHostCpu, &block), 0);
  ASSERT_EQ(TVMPlatformMemoryAllocate(9, kHostCpu, &data), 0);
  auto* bytes = static_cast<TVMByteArray*>(block);
  bytes->data = static_cast<const char*>(data);
  bytes->size = 9;
  EXPECT_EQ(TVMByteArrayFree(bytes), 0);
  EXPECT_EQ(TVMByteArrayFree(nullptr), kTvmErrorFunctionCallInvalidArg);
}

TEST(Streams, AreOneAndNeverBusy) {
  TVMStreamHandle stream = &stream;
  EXPECT_EQ(TVMStreamCreate(kDLCPU, 0, &stream), 0);
  EXPECT_EQ(stream, nullptr);
  EXPECT_EQ(TVMSetStream(kDLCPU, 0, stream), 0);
  EXPECT_EQ(TVMSynchronize(kDLCPU, 0, stream), 0);
  EXPECT_EQ(TVMStreamFree(kDLCPU, 0, stream), 0);
  EXPECT_EQ(TVMStreamCreate(kDLCPU, 0, nullptr), kTvmErrorFunctionCallInvalidArg);
}

}  // namespace
