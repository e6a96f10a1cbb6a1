/* SPDX-License-Identifier: 0BSD */
/*
 * Calls packed functions from C with one structure on the caller's stack, without a heap.
 *
 * A TVMPackedFunc contains the handle, the arguments and the result of a function. Emitted code
 * does not use this header: it calls TVMFuncCall with its own arrays.
 */
#ifndef TVM_RUNTIME_CRT_PACKED_FUNC_H_
#define TVM_RUNTIME_CRT_PACKED_FUNC_H_

#include <stdint.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/crt_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Up to TVM_CRT_MAX_ARGS values with their TVMArgTypeCodes. */
typedef struct TVMArgs {
    TVMValue values[TVM_CRT_MAX_ARGS];
    int tcodes[TVM_CRT_MAX_ARGS];
    uint32_t values_count;
} TVMArgs;

/*
 * Copies values_count values. If there are more than TVM_CRT_MAX_ARGS, copies nothing, and the
 * functions below then refuse the arguments because of the stored count. This function is in the
 * header because compilers call memcpy to return a structure of this size. A program without memcpy
 * must fill a TVMArgs itself.
 */
static inline TVMArgs TVMArgs_Create(TVMValue *values, uint32_t *tcodes, uint32_t values_count) {
    TVMArgs args;
    uint32_t i;
    args.values_count = values_count;
    for (i = 0; i < values_count && values_count <= TVM_CRT_MAX_ARGS; ++i) {
        args.values[i] = values[i];
        args.tcodes[i] = (int)tcodes[i];
    }
    return args;
}

typedef struct TVMPackedFunc TVMPackedFunc;

struct TVMPackedFunc {
    const char *name; /* not copied */
    TVMFunctionHandle fexec;
    TVMArgs args;
    TVMArgs ret_value; /* result of the last call: one value, of type kTVMNullptr if none */
    /* Calls fexec with args and returns its status, or kTvmErrorFunctionCallNumArguments if args
     * has too many values. */
    int (*Call)(TVMPackedFunc *pf);
    /* Copies args for the next call. Returns kTvmErrorFunctionCallNumArguments if there are too
     * many. */
    int (*SetArgs)(TVMPackedFunc *pf, const TVMArgs *args);
};

/* Initialise pf for the function with this name: the one that TVMFuncGetGlobal finds, or the one in
 * a module. args may be NULL if there are none. On error, pf->Call later returns the error for an
 * invalid handle.
 */
int TVMPackedFunc_InitGlobalFunc(TVMPackedFunc *pf, const char *name, const TVMArgs *args);
int TVMPackedFunc_InitModuleFunc(TVMPackedFunc *pf, TVMModuleHandle module, const char *name,
                                 const TVMArgs *args);

/* The implementations of pf->Call and pf->SetArgs. */
int TVMPackedFunc_Call(TVMPackedFunc *pf);
int TVMPackedFunc_SetArgs(TVMPackedFunc *pf, const TVMArgs *args);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_PACKED_FUNC_H_ */
