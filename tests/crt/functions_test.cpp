// SPDX-License-Identifier: Apache-2.0
// Functions and modules by name through the interface that models and servers use, in a program
// without a system library (system_lib_test.cpp has one).
#include <gtest/gtest.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/module.h>
#include <tvm/runtime/crt/packed_func.h>

#include <string>

#include "registry_table.h"

namespace {

// Packed functions over integers.
int twice(TVMValue* args, int* codes, int count, TVMValue* result, int* result_code, void*) {
  if (count != 1) return kTvmErrorFunctionCallNumArguments;
  if (codes[0] != kTVMArgInt) return kTvmErrorFunctionCallWrongArgType;
  result->v_int64 = 2 * args[0].v_int64;
  *result_code = kTVMArgInt;
  return 0;
}
int add_ten(TVMValue* args, int*, int, TVMValue* result, int* result_code, void*) {
  result->v_int64 = args[0].v_int64 + 10;
  *result_code = kTVMArgInt;
  return 0;
}
int no_result(TVMValue*, int*, int, TVMValue*, int*, void*) { return 0; }
int fails(TVMValue*, int*, int, TVMValue*, int*, void*) { return -7; }

// Calls "twice" by name, then "add_ten" by name: a packed call from a packed call.
int nested(TVMValue* args, int* codes, int count, TVMValue* result, int* result_code, void*) {
  TVMFunctionHandle function = nullptr;
  TVMValue value;
  int code = 0;
  if (int error = TVMBackendGetFuncFromEnv(nullptr, "twice", &function)) return error;
  if (int error = TVMFuncCall(function, args, codes, count, &value, &code)) return error;
  if (int error = TVMBackendGetFuncFromEnv(nullptr, "add_ten", &function)) return error;
  return TVMFuncCall(function, &value, &code, 1, result, result_code);
}
// A call of a call of a call.
int deeper(TVMValue* args, int* codes, int count, TVMValue* result, int* result_code, void*) {
  TVMFunctionHandle function = nullptr;
  if (int error = TVMFuncGetGlobal("nested", &function)) return error;
  return TVMFuncCall(function, args, codes, count, result, result_code);
}

TVMFunctionHandle as_handle(TVMBackendPackedCFunc function) {
  return reinterpret_cast<TVMFunctionHandle>(function);
}

// The text of the last error is as asked, as far as it is kept.
void expect_error(const std::string& text) {
  EXPECT_EQ(std::string(TVMGetLastError()), text.substr(0, TVM_CRT_LAST_ERROR_BYTES - 1));
}

class Functions : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(TVMInitializeRuntime(), kTvmErrorNoError); }

  static int call(const std::string& name, std::int64_t argument, std::int64_t* result,
                  int* code = nullptr) {
    TVMFunctionHandle function = nullptr;
    if (int error = TVMFuncGetGlobal(name.c_str(), &function)) return error;
    TVMValue value;
    TVMValue returned;
    value.v_int64 = argument;
    returned.v_int64 = 99;
    int type = kTVMArgInt;
    int returned_type = 99;
    const int error = TVMFuncCall(function, &value, &type, 1, &returned, &returned_type);
    *result = returned.v_int64;
    if (code != nullptr) *code = returned_type;
    return error;
  }
};

TEST_F(Functions, RegisteredFunctionsAreCalledByName) {
  EXPECT_EQ(TVMFuncRegisterGlobal("twice", as_handle(twice), 0), 0);
  EXPECT_EQ(TVMBackendRegisterSystemLibSymbol("no_result", reinterpret_cast<void*>(no_result)), 0);
  std::int64_t result = 0;
  int code = 0;
  EXPECT_EQ(call("twice", 21, &result, &code), 0);
  EXPECT_EQ(result, 42);
  EXPECT_EQ(code, kTVMArgInt);
  EXPECT_EQ(call("no_result", 21, &result, &code), 0);
  EXPECT_EQ(result, 0);
  EXPECT_EQ(code, kTVMNullptr);
}

TEST_F(Functions, PackedFunctionsCallPackedFunctions) {
  EXPECT_EQ(TVMFuncRegisterGlobal("nested", as_handle(nested), 0), 0);
  EXPECT_EQ(TVMFuncRegisterGlobal("deeper", as_handle(deeper), 0), 0);
  std::int64_t result = 0;
  EXPECT_EQ(call("deeper", 4, &result), kTvmErrorFunctionNameNotFound) << "of an inner function";
  expect_error("no function 'twice' [crt-function-unknown]");
  EXPECT_EQ(TVMFuncRegisterGlobal("twice", as_handle(twice), 0), 0);
  const RegistryTable table({{"add_ten", add_ten}}, Tables::kHashesAndOffsets);
  const TVMModule module = {table.get()};
  TVMModuleHandle handle = nullptr;
  EXPECT_EQ(TVMModCreateFromCModule(&module, &handle), 0);
  EXPECT_EQ(call("deeper", 4, &result), 0);
  EXPECT_EQ(result, 18);
}

TEST_F(Functions, StatusOfAFunctionIsTheStatusOfTheCall) {
  EXPECT_EQ(TVMFuncRegisterGlobal("fails", as_handle(fails), 0), 0);
  std::int64_t result = 0;
  EXPECT_EQ(call("fails", 1, &result), -7);
}

TEST_F(Functions, UnknownNamesGiveNullAndTheNameInTheText) {
  TVMFunctionHandle function = &function;
  EXPECT_EQ(TVMFuncGetGlobal("no_such", &function), kTvmErrorFunctionNameNotFound);
  EXPECT_EQ(function, nullptr);
  expect_error("no function 'no_such' [crt-function-unknown]");
  const std::string longer(200, 'n');
  EXPECT_EQ(TVMFuncGetGlobal(longer.c_str(), &function), kTvmErrorFunctionNameNotFound);
  const std::string before = "no function '";
  const std::string after = "' [crt-function-unknown]";
  const std::size_t room = TVM_CRT_LAST_ERROR_BYTES - 1;
  const std::size_t kept =
      room > before.size() + after.size() ? room - before.size() - after.size() : longer.size();
  expect_error(before + longer.substr(0, kept) + after);
  EXPECT_EQ(TVMFuncGetGlobal(nullptr, &function), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMFuncGetGlobal("no_such", nullptr), kTvmErrorFunctionCallInvalidArg);
}

TEST_F(Functions, BadHandlesAreNotCalled) {
  TVMFunctionHandle good = nullptr;
  ASSERT_EQ(TVMFuncGetGlobal("runtime.SystemLib", &good), 0);
  TVMValue value;
  int code = 0;
  for (std::uintptr_t bits = 0; bits < 0x200000; bits += 0x7fff) {
    const auto handle = reinterpret_cast<TVMFunctionHandle>(bits);
    if (handle == good) continue;
    ASSERT_EQ(TVMFuncCall(handle, nullptr, nullptr, 0, &value, &code),
              kTvmErrorFunctionIndexInvalid)
        << bits;
  }
  const auto next = reinterpret_cast<TVMFunctionHandle>(reinterpret_cast<std::uintptr_t>(good) + 1);
  EXPECT_EQ(TVMFuncCall(next, nullptr, nullptr, 0, &value, &code), kTvmErrorFunctionIndexInvalid);
  EXPECT_EQ(TVMFuncCall(&value, nullptr, nullptr, 0, &value, &code), kTvmErrorFunctionIndexInvalid);
  expect_error("call of a bad handle [crt-function-handle]");
  EXPECT_EQ(TVMFuncCall(good, nullptr, nullptr, 0, nullptr, &code),
            kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMFuncCall(good, nullptr, nullptr, 0, &value, nullptr),
            kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMFuncFree(good), 0);
  EXPECT_EQ(TVMFuncFree(nullptr), 0);
}

TEST_F(Functions, SecondRegistrationNeedsOverrideAndFullRegistrySaysSo) {
  EXPECT_EQ(TVMFuncRegisterGlobal("f", as_handle(twice), 0), 0);
  EXPECT_EQ(TVMFuncRegisterGlobal("f", as_handle(add_ten), 0), kTvmErrorFunctionAlreadyDefined);
  expect_error("cannot register 'f' [crt-function-register]");
  std::int64_t result = 0;
  EXPECT_EQ(call("f", 1, &result), 0);
  EXPECT_EQ(result, 2);
  EXPECT_EQ(TVMFuncRegisterGlobal("f", as_handle(add_ten), 1), 0);
  EXPECT_EQ(call("f", 1, &result), 0);
  EXPECT_EQ(result, 11);
  int error = 0;
  int count = 0;
  for (; error == 0 && count < 40000; ++count) {
    error = TVMFuncRegisterGlobal(("f" + std::to_string(count)).c_str(), as_handle(twice), 0);
  }
  EXPECT_EQ(error, kTvmErrorFunctionRegistryFull);
  EXPECT_LE(count, TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES / 16);
  EXPECT_EQ(TVMFuncRegisterGlobal(nullptr, as_handle(twice), 0), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMFuncRegisterGlobal("g", nullptr, 0), kTvmErrorFunctionCallInvalidArg);
}

TEST_F(Functions, GlobalFunctionsGoBeforeThoseOfModules) {
  for (Tables tables : {Tables::kNames, Tables::kHashes, Tables::kHashesAndOffsets}) {
    ASSERT_EQ(TVMInitializeRuntime(), kTvmErrorNoError);
    const RegistryTable table({{"f", twice}, {"g", add_ten}}, tables);
    const TVMModule module = {table.get()};
    TVMModuleHandle handle = nullptr;
    ASSERT_EQ(TVMModCreateFromCModule(&module, &handle), 0);
    std::int64_t result = 0;
    EXPECT_EQ(call("f", 1, &result), 0);
    EXPECT_EQ(result, 2);
    EXPECT_EQ(TVMFuncRegisterGlobal("f", as_handle(add_ten), 0), 0);
    EXPECT_EQ(call("f", 1, &result), 0);
    EXPECT_EQ(result, 11);
    // The module's own, asked for as such.
    TVMFunctionHandle function = nullptr;
    EXPECT_EQ(TVMBackendGetFuncFromEnv(handle, "f", &function), 0);
    TVMValue value;
    value.v_int64 = 5;
    int code = kTVMArgInt;
    TVMValue returned;
    int returned_code = 0;
    EXPECT_EQ(TVMFuncCall(function, &value, &code, 1, &returned, &returned_code), 0);
    EXPECT_EQ(returned.v_int64, 10);
    // And what the module has not, from the rest.
    EXPECT_EQ(TVMBackendGetFuncFromEnv(handle, "runtime.SystemLib", &function), 0);
    EXPECT_EQ(TVMModGetFunction(handle, "runtime.SystemLib", 1, &function),
              kTvmErrorFunctionNameNotFound);
    EXPECT_EQ(function, nullptr);
  }
}

TEST_F(Functions, ModulesComeAndGo) {
  std::vector<std::unique_ptr<RegistryTable>> tables;
  std::vector<TVMModule> modules;
  for (int i = 0; i <= TVM_CRT_MAX_REGISTERED_MODULES; ++i) {
    tables.push_back(std::make_unique<RegistryTable>(
        std::vector<NamedFunction>{{"m" + std::to_string(i), i % 2 ? twice : add_ten}},
        Tables::kHashesAndOffsets));
    modules.push_back({tables.back()->get()});
  }
  std::vector<TVMModuleHandle> handles(modules.size());
  for (int i = 0; i < TVM_CRT_MAX_REGISTERED_MODULES; ++i) {
    const auto k = static_cast<std::size_t>(i);
    EXPECT_EQ(TVMModCreateFromCModule(&modules[k], &handles[k]), 0);
    std::int64_t result = 0;
    EXPECT_EQ(call("m" + std::to_string(i), 1, &result), 0);
    EXPECT_EQ(result, i % 2 ? 2 : 11);
  }
  EXPECT_EQ(TVMModCreateFromCModule(&modules.back(), &handles.back()),
            kTvmErrorFunctionRegistryFull);
  EXPECT_EQ(handles.back(), nullptr);
  TVMModuleHandle again = nullptr;
  EXPECT_EQ(TVMModCreateFromCModule(&modules[0], &again), 0);
  EXPECT_EQ(again, handles[0]);

  TVMFunctionHandle function = nullptr;
  ASSERT_EQ(TVMFuncGetGlobal("m0", &function), 0);
  EXPECT_EQ(TVMModFree(handles[0]), 0);
  EXPECT_EQ(TVMModFree(handles[0]), kTvmErrorFunctionCallInvalidArg) << "freed twice";
  expect_error("not a module's handle [crt-module-handle]");
  TVMValue value;
  int code = 0;
  EXPECT_EQ(TVMFuncCall(function, &value, &code, 0, &value, &code), kTvmErrorFunctionIndexInvalid)
      << "a function of a freed module";
  EXPECT_EQ(TVMFuncGetGlobal("m0", &function), kTvmErrorFunctionNameNotFound);
  EXPECT_EQ(TVMModCreateFromCModule(&modules.back(), &handles.back()), 0);
  std::int64_t result = 0;
  EXPECT_EQ(call("m" + std::to_string(TVM_CRT_MAX_REGISTERED_MODULES), 1, &result), 0);
}

TEST_F(Functions, BadModulesAreRefused) {
  TVMModuleHandle handle = nullptr;
  const TVMModule empty = {nullptr};
  EXPECT_EQ(TVMModCreateFromCModule(nullptr, &handle), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMModCreateFromCModule(&empty, &handle), kTvmErrorFunctionCallInvalidArg);
  TVMFunctionHandle function = nullptr;
  for (std::uintptr_t bits = 0; bits < 40; ++bits) {
    EXPECT_EQ(TVMModGetFunction(reinterpret_cast<void*>(bits), "f", 0, &function),
              kTvmErrorFunctionCallInvalidArg);
    EXPECT_EQ(TVMModFree(reinterpret_cast<void*>(bits)), kTvmErrorFunctionCallInvalidArg);
  }
  EXPECT_EQ(TVMBackendGetFuncFromEnv(&handle, "f", &function), kTvmErrorFunctionCallInvalidArg);
}

TEST_F(Functions, ProgramWithoutASystemLibrarySaysSo) {
  std::int64_t result = 0;
  EXPECT_EQ(call("runtime.SystemLib", 0, &result), kTvmErrorFunctionCallNumArguments);
  TVMPackedFunc function;
  ASSERT_EQ(TVMPackedFunc_InitGlobalFunc(&function, "runtime.SystemLib", nullptr), 0);
  EXPECT_EQ(function.Call(&function), kTvmErrorFunctionNameNotFound);
  expect_error("no system library is linked [crt-no-system-lib]");
}

TEST_F(Functions, InitialisingAgainForgetsEverything) {
  EXPECT_EQ(TVMFuncRegisterGlobal("f", as_handle(twice), 0), 0);
  const RegistryTable table({{"g", add_ten}}, Tables::kNames);
  const TVMModule module = {table.get()};
  TVMModuleHandle handle = nullptr;
  EXPECT_EQ(TVMModCreateFromCModule(&module, &handle), 0);
  TVMAPISetLastError("text");
  EXPECT_EQ(TVMInitializeRuntime(), kTvmErrorNoError);
  EXPECT_STREQ(TVMGetLastError(), "");
  TVMFunctionHandle function = nullptr;
  EXPECT_EQ(TVMFuncGetGlobal("f", &function), kTvmErrorFunctionNameNotFound);
  EXPECT_EQ(TVMFuncGetGlobal("g", &function), kTvmErrorFunctionNameNotFound);
  EXPECT_EQ(TVMFuncGetGlobal("runtime.SystemLib", &function), 0);
}

TEST_F(Functions, PackedFuncCarriesArgumentsAndResult) {
  EXPECT_EQ(TVMFuncRegisterGlobal("twice", as_handle(twice), 0), 0);
  TVMValue values[TVM_CRT_MAX_ARGS + 1] = {};
  std::uint32_t codes[TVM_CRT_MAX_ARGS + 1] = {};
  values[0].v_int64 = 4;
  const TVMArgs one = TVMArgs_Create(values, codes, 1);
  TVMPackedFunc function;
  ASSERT_EQ(TVMPackedFunc_InitGlobalFunc(&function, "twice", &one), 0);
  EXPECT_EQ(function.Call(&function), 0);
  EXPECT_EQ(function.ret_value.values_count, 1u);
  EXPECT_EQ(function.ret_value.values[0].v_int64, 8);
  EXPECT_EQ(function.ret_value.tcodes[0], kTVMArgInt);
  // The result as the next arguments.
  EXPECT_EQ(function.SetArgs(&function, &function.ret_value), 0);
  EXPECT_EQ(function.Call(&function), 0);
  EXPECT_EQ(function.ret_value.values[0].v_int64, 16);

  const TVMArgs full = TVMArgs_Create(values, codes, TVM_CRT_MAX_ARGS);
  EXPECT_EQ(function.SetArgs(&function, &full), 0);
  const TVMArgs too_many = TVMArgs_Create(values, codes, TVM_CRT_MAX_ARGS + 1);
  EXPECT_EQ(function.SetArgs(&function, &too_many), kTvmErrorFunctionCallNumArguments);
  EXPECT_EQ(TVMPackedFunc_InitGlobalFunc(&function, "twice", &too_many),
            kTvmErrorFunctionCallNumArguments);
  EXPECT_EQ(function.Call(&function), kTvmErrorFunctionIndexInvalid);

  const RegistryTable table({{"g", add_ten}}, Tables::kHashes);
  const TVMModule module = {table.get()};
  TVMModuleHandle handle = nullptr;
  ASSERT_EQ(TVMModCreateFromCModule(&module, &handle), 0);
  ASSERT_EQ(TVMPackedFunc_InitModuleFunc(&function, handle, "g", &one), 0);
  EXPECT_EQ(function.Call(&function), 0);
  EXPECT_EQ(function.ret_value.values[0].v_int64, 14);
  EXPECT_EQ(TVMPackedFunc_InitModuleFunc(&function, handle, "twice", &one),
            kTvmErrorFunctionNameNotFound);
}

TEST_F(Functions, SetReturnFillsArgs) {
  TVMValue values[TVM_CRT_MAX_ARGS + 1] = {};
  int codes[TVM_CRT_MAX_ARGS + 1] = {kTVMArgInt};
  values[0].v_int64 = -3;
  TVMArgs result = {};
  EXPECT_EQ(TVMCFuncSetReturn(&result, values, codes, 1), 0);
  EXPECT_EQ(result.values_count, 1u);
  EXPECT_EQ(result.values[0].v_int64, -3);
  EXPECT_EQ(TVMCFuncSetReturn(&result, values, codes, TVM_CRT_MAX_ARGS + 1),
            kTvmErrorFunctionCallNumArguments);
  EXPECT_EQ(TVMCFuncSetReturn(&result, values, codes, -1), kTvmErrorFunctionCallNumArguments);
}

TEST(Backend, ParallelRegionIsOneTask) {
  struct Seen {
    int calls = 0, task = -1, tasks = 0, status = 0;
  } seen;
  const auto task = [](int id, TVMParallelGroupEnv* group, void* data) {
    auto* out = static_cast<Seen*>(data);
    ++out->calls;
    out->task = id;
    out->tasks = group->num_task;
    const int barrier = TVMBackendParallelBarrier(id, group);
    return barrier != 0 ? barrier : out->status;
  };
  for (int asked : {0, 1, 4}) {
    EXPECT_EQ(TVMBackendParallelLaunch(task, &seen, asked), 0);
    EXPECT_EQ(seen.task, 0);
    EXPECT_EQ(seen.tasks, 1);
  }
  EXPECT_EQ(seen.calls, 3);
  seen.status = -5;
  EXPECT_EQ(TVMBackendParallelLaunch(task, &seen, 2), -5);
}

TEST(Backend, RunOnceTriesUntilItSucceeds) {
  struct State {
    int calls = 0, status = -2;
  } state;
  const auto work = [](void* data) {
    auto* s = static_cast<State*>(data);
    ++s->calls;
    return s->status;
  };
  void* once = nullptr;
  EXPECT_EQ(TVMBackendRunOnce(&once, work, &state, sizeof(state)), -2);
  state.status = 0;
  EXPECT_EQ(TVMBackendRunOnce(&once, work, &state, sizeof(state)), 0);
  EXPECT_EQ(TVMBackendRunOnce(&once, work, &state, sizeof(state)), 0);
  EXPECT_EQ(state.calls, 2);
}

TEST(Backend, FunctionsOfTheRuntimeAreNotRegistered) {
  EXPECT_EQ(TVMBackendRegisterEnvCAPI("TVMFuncCall", reinterpret_cast<void*>(TVMFuncCall)),
            kTvmErrorFunctionCallNotImplemented);
  expect_error("not needed: TVMFuncCall [crt-env-api]");
}

}  // namespace
