/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls every operator of a TVM archive by name through the registry, from a packed function that
 * does so in its turn, and compares all bytes with those of a direct call of the same symbol.
 * archive.inc, which the test writes, declares the operators and lists them: OPERATOR(name, number
 * of arguments). With REGISTER_BY_HAND the archive has no system library. Exits with 0 or the
 * number of the check that failed.
 */
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/module.h>

#if defined(__arm__)
#include "../board/board_io.h"
#else
#include <stdlib.h>
static void exit_board(uint32_t status) {
    exit((int)status);
}
#endif

#define MAX_ARGUMENTS 16
#define ARGUMENT_BYTES (152 * 1024)

typedef struct {
    const char *name;
    TVMBackendPackedCFunc function;
    int num_args;
} Operator;

#include "archive.inc"

#define OPERATOR(name, arguments) {#name, (TVMBackendPackedCFunc)name, arguments},
static const Operator operators[] = {OPERATORS};

static uint8_t bytes[MAX_ARGUMENTS][ARGUMENT_BYTES];
static DLTensor tensors[MAX_ARGUMENTS];
static TVMValue args[MAX_ARGUMENTS];
static int type_codes[MAX_ARGUMENTS];

/* Small values whatever the element type, so that no shift or index goes astray. */
static void fill(void) {
    uint32_t state = 1;
    int i;
    int32_t k;
    for (i = 0; i < MAX_ARGUMENTS; ++i) {
        for (k = 0; k < ARGUMENT_BYTES; ++k) {
            state = state * 1664525u + 1013904223u;
            bytes[i][k] = k % 4 == 0 ? (uint8_t)((state >> 24) % 7u) : 0;
        }
        tensors[i].data = bytes[i];
        tensors[i].device.device_type = kDLCPU;
        args[i].v_handle = &tensors[i];
        type_codes[i] = kTVMDLTensorHandle;
    }
}

static uint32_t checksum(void) {
    uint32_t hash = 0x811c9dc5u;
    int i;
    int32_t k;
    for (i = 0; i < MAX_ARGUMENTS; ++i) {
        for (k = 0; k < ARGUMENT_BYTES; ++k) {
            hash = (hash ^ bytes[i][k]) * 0x01000193u;
        }
    }
    return hash;
}

/* The packed function that calls the operator by name. */
static const char *forwarded;
static int forward(TVMValue *values, int *codes, int num_args, TVMValue *result, int *result_code,
                   void *resource) {
    TVMFunctionHandle function;
    const int status = TVMBackendGetFuncFromEnv(resource, forwarded, &function);
    if (status != 0) {
        return status;
    }
    return TVMFuncCall(function, values, codes, num_args, result, result_code);
}

static void check_operator(const Operator *operator, TVMFunctionHandle forwarder) {
    TVMValue result;
    int result_code;
    uint32_t untouched, direct;
    fill();
    untouched = checksum();
    if (operator->function(args, type_codes, operator->num_args, &result, &result_code, NULL)) {
        exit_board(20);
    }
    direct = checksum();
    if (direct == untouched) {
        exit_board(21);
    }
    fill();
    forwarded = operator->name;
    if (TVMFuncCall(forwarder, args, type_codes, operator->num_args, &result, &result_code)) {
        exit_board(22);
    }
    if (checksum() != direct) {
        exit_board(23);
    }
}

/* "add" has a meaning that is known: C[i] = A[i] + B[0] for two elements. */
static void check_add(void) {
    TVMFunctionHandle function;
    TVMValue result;
    int result_code;
    fill();
    bytes[0][0] = 100;
    bytes[0][1] = 0xf0;
    bytes[1][0] = 5;
    if (TVMFuncGetGlobal("add", &function) != 0) {
        return;
    }
    if (TVMFuncCall(function, args, type_codes, 3, &result, &result_code) != 0 ||
        bytes[2][0] != 105 || bytes[2][1] != 0xf5) {
        exit_board(24);
    }
}

static void check_archive(void) {
    union {
        TVMFunctionHandle handle;
        TVMBackendPackedCFunc function;
    } function;
    TVMFunctionHandle forwarder;
    size_t i;
    if (TVMInitializeRuntime() != kTvmErrorNoError) {
        exit_board(10);
    }
    function.function = forward;
    if (TVMFuncRegisterGlobal("forward", function.handle, 0) != 0 ||
        TVMFuncGetGlobal("forward", &forwarder) != 0) {
        exit_board(11);
    }
    for (i = 0; i < sizeof(operators) / sizeof(operators[0]); ++i) {
#if defined(REGISTER_BY_HAND)
        function.function = operators[i].function;
        if (TVMFuncRegisterGlobal(operators[i].name, function.handle, 0) != 0) {
            exit_board(12);
        }
#endif
        if (operators[i].num_args > MAX_ARGUMENTS) {
            exit_board(14);
        }
        check_operator(&operators[i], forwarder);
    }
#if !defined(REGISTER_BY_HAND)
    if (TVMFuncRegistry_GetNumFuncs(TVMSystemLibEntryPoint()->registry) != i) {
        exit_board(13);
    }
#endif
    check_add();
    exit_board(0);
}

#if defined(__arm__)
void reset(void) {
    check_archive();
}
extern const uintptr_t vectors[];
__attribute__((section(".vectors"), used))
const uintptr_t vectors[2] = {0x20400000u, (uintptr_t)reset};
#else
int main(void) {
    check_archive();
    return 1;
}
#endif
