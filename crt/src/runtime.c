/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/crt/crt.h>

#include "internal.h"

/* The packed function "runtime.SystemLib". */
static int system_library(TVMValue *args, int *type_codes, int num_args, TVMValue *out_ret_value,
                          int *out_ret_tcode, void *resource_handle) {
    (void)args;
    (void)type_codes;
    (void)resource_handle;
    if (num_args != 0) {
        return kTvmErrorFunctionCallNumArguments;
    }
    if (aotc_crt_system_library() == NULL) {
        return aotc_crt_fail(kTvmErrorFunctionNameNotFound, "no system library is linked", "",
                             " [crt-no-system-lib]");
    }
    out_ret_value->v_handle = (TVMModuleHandle)(uintptr_t)(AOTC_CRT_SYSTEM_LIBRARY + 1);
    *out_ret_tcode = kTVMModuleHandle;
    return kTvmErrorNoError;
}

tvm_crt_error_t TVMInitializeRuntime(void) {
    /* As in TVMFuncRegisterGlobal, which takes a function's address as a handle. */
    union {
        TVMFunctionHandle handle;
        TVMBackendPackedCFunc function;
    } function;
    size_t i;
    TVMAPISetLastError("");
    for (i = 0; i < AOTC_CRT_REGISTRIES; ++i) {
        aotc_crt_registries[i] = NULL;
        AOTC_CRT_KEEP_LOOP();
    }
    /* The next registration makes the registry anew. */
    aotc_crt_globals = NULL;
    function.handle = NULL;
    function.function = system_library;
    return (tvm_crt_error_t)TVMFuncRegisterGlobal("runtime.SystemLib", function.handle, 0);
}
