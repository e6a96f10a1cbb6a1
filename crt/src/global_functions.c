/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>

#include "internal.h"

/* C99 cannot ask for an alignment; the union gives that of the tables. */
static union {
    uint8_t bytes[TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES];
    TVMBackendPackedCFunc function;
    uint32_t word;
} buffer;

static TVMMutableFuncRegistry registry;

int TVMFuncRegisterGlobal(const char *name, TVMFunctionHandle f, int override) {
    /* The handle is the function's address: C has no conversion from a void pointer to it. */
    union {
        TVMFunctionHandle handle;
        TVMBackendPackedCFunc function;
    } function;
    tvm_crt_error_t error = kTvmErrorNoError;
    if (aotc_crt_globals == NULL) {
        error = TVMMutableFuncRegistry_Create(&registry, buffer.bytes, sizeof(buffer.bytes));
        if (error == kTvmErrorNoError) {
            aotc_crt_globals = &registry;
            aotc_crt_registries[AOTC_CRT_GLOBAL_FUNCTIONS] = &registry.registry;
        }
    }
    function.function = NULL;
    function.handle = f;
    if (error == kTvmErrorNoError) {
        error = TVMMutableFuncRegistry_Set(&registry, name, function.function, override);
    }
    if (error != kTvmErrorNoError) {
        return aotc_crt_fail(error, "cannot register '", name != NULL ? name : "",
                             "' [crt-function-register]");
    }
    return kTvmErrorNoError;
}

int TVMBackendRegisterSystemLibSymbol(const char *name, void *ptr) {
    return TVMFuncRegisterGlobal(name, ptr, 0);
}
