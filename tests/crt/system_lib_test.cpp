// SPDX-License-Identifier: Apache-2.0
// A program with a system library (model/system_lib.c), linked with the runtime as a library:
// functions are found without any registration, and call each other by name.
#include <gtest/gtest.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/module.h>
#include <tvm/runtime/crt/packed_func.h>

#include <array>

namespace {

struct Vector {
  explicit Vector(std::array<std::int8_t, 3> values) : data(values) {
    tensor.data = data.data();
    tensor.ndim = 1;
    tensor.shape = &count;
  }
  std::array<std::int8_t, 3> data;
  std::int64_t count = 3;
  DLTensor tensor{};
};

int call(TVMFunctionHandle function, Vector& in, Vector& out) {
  std::array<TVMValue, 2> args;
  std::array<int, 2> codes = {kTVMDLTensorHandle, kTVMDLTensorHandle};
  args[0].v_handle = &in.tensor;
  args[1].v_handle = &out.tensor;
  TVMValue result;
  int code = 0;
  return TVMFuncCall(function, args.data(), codes.data(), 2, &result, &code);
}

// Runs before the others by its name: nothing was initialised.
TEST(SystemLib, AFunctionsAreFoundWithoutAnyCallBefore) {
  TVMFunctionHandle function = nullptr;
  ASSERT_EQ(TVMFuncGetGlobal("model_main", &function), 0) << TVMGetLastError();
  Vector in({1, -2, 31});
  Vector out({});
  EXPECT_EQ(call(function, in, out), 0);
  EXPECT_EQ(out.data, (std::array<std::int8_t, 3>{4, -8, 124}));
}

TEST(SystemLib, IsTheModuleThatRuntimeSystemLibReturns) {
  ASSERT_EQ(TVMInitializeRuntime(), kTvmErrorNoError);
  TVMPackedFunc get;
  ASSERT_EQ(TVMPackedFunc_InitGlobalFunc(&get, "runtime.SystemLib", nullptr), 0);
  ASSERT_EQ(get.Call(&get), 0) << TVMGetLastError();
  ASSERT_EQ(get.ret_value.tcodes[0], kTVMModuleHandle);
  const TVMModuleHandle module = get.ret_value.values[0].v_handle;
  TVMFunctionHandle function = nullptr;
  ASSERT_EQ(TVMModGetFunction(module, "model_scale", 0, &function), 0);
  Vector in({1, -2, 31});
  Vector out({});
  EXPECT_EQ(call(function, in, out), 0);
  EXPECT_EQ(out.data, (std::array<std::int8_t, 3>{2, -4, 62}));
  EXPECT_EQ(TVMModFree(module), 0) << "stays all the same";
  ASSERT_EQ(TVMFuncGetGlobal("model_scale", &function), 0);
  EXPECT_EQ(call(function, in, out), 0);
  EXPECT_EQ(TVMModGetFunction(module, "runtime.SystemLib", 0, &function),
            kTvmErrorFunctionNameNotFound);
}

TEST(SystemLib, FunctionsOfTheApplicationGoBeforeItsOwn) {
  ASSERT_EQ(TVMInitializeRuntime(), kTvmErrorNoError);
  const auto refuse = [](TVMValue*, int*, int, TVMValue*, int*, void*) { return -9; };
  const TVMBackendPackedCFunc function = refuse;
  ASSERT_EQ(TVMFuncRegisterGlobal("model_main", reinterpret_cast<void*>(function), 0), 0);
  TVMFunctionHandle found = nullptr;
  ASSERT_EQ(TVMFuncGetGlobal("model_main", &found), 0);
  Vector in({1, 2, 3});
  Vector out({});
  EXPECT_EQ(call(found, in, out), -9);
}

}  // namespace
