/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime on an emulated 32-bit board, without a libc: what a desktop with its size_t of 64
 * bits cannot check. Exits with 0, or with the line of the first failed check.
 */
#include <aotc_crt/platform_stack.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/packed_func.h>
#include <tvm/runtime/crt/page_allocator.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/stack_allocator.h>

#include "../model/workspace_model.h"
#include "board_io.h"

#define CHECK(condition)                \
    do {                                \
        if (!(condition)) {             \
            exit_board(__LINE__ % 256); \
        }                               \
    } while (0)

static void check_model(void) {
    int8_t input[WORKSPACE_MODEL_INPUT_ELEMENTS];
    int64_t output = 0;
    int i;
    for (i = 0; i < WORKSPACE_MODEL_INPUT_ELEMENTS; ++i) {
        input[i] = -128;
    }
    CHECK(workspace_model_run(input, &output) == 0);
    /* 6 groups of (4 * 128 * 128) squared. */
    CHECK(output == 6 * ((int64_t)65536 * 65536));
    CHECK(AotcPlatformStackHighWaterBytes() ==
          TVM_CRT_STACK_ALLOCATOR_BLOCK_BYTES(WORKSPACE_MODEL_SQUARES_BYTES) +
              TVM_CRT_STACK_ALLOCATOR_BLOCK_BYTES(WORKSPACE_MODEL_SUMS_BYTES));
}

static void check_sizes(void) {
    const uint64_t two_to_32 = (uint64_t)1 << 32;
    CHECK(TVMBackendAllocWorkspace(1, 0, two_to_32, 2, 8) == NULL);
    CHECK(TVMBackendAllocWorkspace(1, 0, two_to_32 + 8, 2, 8) == NULL);
    CHECK(TVMBackendAllocWorkspace(1, 0, 0xffffffffu, 2, 8) == NULL);
    CHECK(TVMBackendAllocWorkspace(1, 0, 0x7fffffffu, 2, 8) == NULL);
    CHECK(TVMGetLastError()[0] != '\0');
}

static void check_pages(void) {
    static uint8_t pool[2048];
    const DLDevice device = {kDLCPU, 0};
    MemoryManagerInterface *manager;
    void *a;
    void *b;
    CHECK(PageMemoryManagerCreate(&manager, pool, sizeof(pool), 6) == kTvmErrorNoError);
    CHECK(manager->Allocate(manager, 65, device, &a) == kTvmErrorNoError);
    CHECK(manager->Allocate(manager, 1, device, &b) == kTvmErrorNoError);
    CHECK((uint8_t *)b == (uint8_t *)a + 128);
    CHECK((uintptr_t)a % TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES == 0);
    CHECK(manager->Free(manager, a, device) == kTvmErrorNoError);
    CHECK(manager->Free(manager, a, device) == kTvmErrorPlatformStackAllocBadFree);
    CHECK(manager->Allocate(manager, 0xffffffffu, device, &a) == kTvmErrorPlatformNoMemory);
    CHECK(manager->vleak_size == 1);
    CHECK(PageMemoryManagerCreate(&manager, pool, sizeof(pool), 31) ==
          kTvmErrorPlatformCheckFailure);
    CHECK(PageMemoryManagerCreate(&manager, pool, sizeof(pool), 32) ==
          kTvmErrorPlatformCheckFailure);
}

/* The system library, a function of the application in front of it, and an array. */
static void check_functions(void) {
    const tvm_index_t shape[1] = {3};
    TVMArrayHandle vector;
    TVMPackedFunc function;
    TVMFunctionHandle handle;
    TVMValue args[2];
    int type_codes[2] = {kTVMDLTensorHandle, kTVMDLTensorHandle};
    TVMValue result;
    int result_code;
    CHECK(TVMArrayAlloc(shape, 1, kDLInt, 8, 1, kDLCPU, 0, &vector) == 0);
    ((int8_t *)vector->data)[0] = 1;
    ((int8_t *)vector->data)[2] = -31;
    args[0].v_handle = vector;
    args[1].v_handle = vector;
    CHECK(TVMFuncGetGlobal("model_main", &handle) == 0);
    CHECK(TVMFuncCall(handle, args, type_codes, 2, &result, &result_code) == 0);
    CHECK(((int8_t *)vector->data)[0] == 4);
    CHECK(((int8_t *)vector->data)[2] == -124);
    CHECK(TVMFuncGetGlobal("model_mai", &handle) == kTvmErrorFunctionNameNotFound);
    CHECK(TVMFuncCall(handle, args, type_codes, 2, &result, &result_code) ==
          kTvmErrorFunctionIndexInvalid);
    CHECK(TVMInitializeRuntime() == kTvmErrorNoError);
    CHECK(TVMPackedFunc_InitGlobalFunc(&function, "runtime.SystemLib", NULL) == 0);
    CHECK(function.Call(&function) == 0);
    CHECK(function.ret_value.tcodes[0] == kTVMModuleHandle);
    CHECK(TVMModGetFunction(function.ret_value.values[0].v_handle, "model_scale", 0, &handle) == 0);
    CHECK(TVMFuncRegisterGlobal("runtime.SystemLib", handle, 0) == kTvmErrorFunctionAlreadyDefined);
    CHECK(TVMArrayFree(vector) == 0);
}

static void reset(void) {
    check_functions();
    check_model();
    check_sizes();
    check_pages();
    check_model();
    exit_board(0);
}

extern const uintptr_t vectors[];

/* Top of the RAM, entry. */
__attribute__((section(".vectors"), used))
const uintptr_t vectors[2] = {0x20004000u, (uintptr_t)reset};
