/* SPDX-License-Identifier: Apache-2.0 */
/* A system library as emitted code brings it, with hashes and offsets. */
#include <stddef.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/module.h>

#define PARAMETERS                                                                          \
    TVMValue *args, int *type_codes, int num_args, TVMValue *ret_value, int *ret_type_code, \
        void *resource_handle

static int32_t model_scale(PARAMETERS) {
    const DLTensor *in = (const DLTensor *)args[0].v_handle;
    DLTensor *out = (DLTensor *)args[1].v_handle;
    int32_t i;
    (void)type_codes;
    (void)ret_value;
    (void)ret_type_code;
    (void)resource_handle;
    if (num_args != 2) {
        return kTvmErrorFunctionCallNumArguments;
    }
    for (i = 0; i < in->shape[0]; ++i) {
        ((int8_t *)out->data)[i] = (int8_t)(2 * ((const int8_t *)in->data)[i]);
    }
    return 0;
}

static int32_t call_scale(TVMValue *args, int *type_codes, void *from, void *to) {
    static void *function;
    TVMValue result;
    int result_code;
    int32_t status;
    if (function == NULL) {
        status = TVMBackendGetFuncFromEnv(NULL, "model_scale", &function);
        if (status != 0) {
            return status;
        }
    }
    args[0].v_handle = from;
    args[1].v_handle = to;
    type_codes[0] = kTVMDLTensorHandle;
    type_codes[1] = kTVMDLTensorHandle;
    return TVMFuncCall(function, args, type_codes, 2, &result, &result_code);
}

/* Scales twice, by name, as TVM's emitted code calls one packed function from another. */
static int32_t model_main(PARAMETERS) {
    TVMValue inner[2];
    int inner_codes[2];
    int32_t status;
    (void)type_codes;
    (void)num_args;
    (void)ret_value;
    (void)ret_type_code;
    (void)resource_handle;
    status = call_scale(inner, inner_codes, args[0].v_handle, args[1].v_handle);
    if (status != 0) {
        return status;
    }
    return call_scale(inner, inner_codes, args[1].v_handle, args[1].v_handle);
}

static const TVMBackendPackedCFunc functions[] = {
    (TVMBackendPackedCFunc)model_scale,
    (TVMBackendPackedCFunc)model_main,
};
/* In ascending order, which puts the functions in theirs. */
static const uint32_t hashes[] = {0x2180145fu, 0x41d7318eu};
static const uint16_t offsets[] = {2, 14, 25};
/* The count is in the byte order of the machine, here a little-endian one. */
static const TVMFuncRegistry registry = {"\002\000model_scale\000model_main\000", functions, hashes,
                                         offsets};
static const TVMModule library = {&registry};

const TVMModule *TVMSystemLibEntryPoint(void) {
    return &library;
}
