/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>

#include "internal.h"
#include "lookup.h"

#define INDEX_MASK (((uintptr_t)1 << AOTC_CRT_INDEX_BITS) - 1)

#if defined(__GNUC__)
/* Only referred to weakly here: module.h must not say so, or the definition would be weak, too. */
const TVMModule *TVMSystemLibEntryPoint(void) __attribute__((weak));
#define HAS_SYSTEM_LIBRARY (TVMSystemLibEntryPoint != NULL)
#else
#define HAS_SYSTEM_LIBRARY 1
#endif

const TVMMutableFuncRegistry *aotc_crt_globals;
const TVMFuncRegistry *aotc_crt_registries[AOTC_CRT_REGISTRIES];

const TVMFuncRegistry *aotc_crt_system_library(void) {
    const TVMModule *library;
    if (aotc_crt_registries[AOTC_CRT_SYSTEM_LIBRARY] == NULL && HAS_SYSTEM_LIBRARY) {
        library = TVMSystemLibEntryPoint();
        if (library != NULL) {
            aotc_crt_registries[AOTC_CRT_SYSTEM_LIBRARY] = library->registry;
        }
    }
    return aotc_crt_registries[AOTC_CRT_SYSTEM_LIBRARY];
}

int aotc_crt_bad_argument(void) {
    return aotc_crt_fail(kTvmErrorFunctionCallInvalidArg, "NULL argument", "", " [crt-argument]");
}

int aotc_crt_unknown(const char *name) {
    return aotc_crt_fail(kTvmErrorFunctionNameNotFound, "no function '", name,
                         "' [crt-function-unknown]");
}

int TVMFuncGetGlobal(const char *name, TVMFunctionHandle *out) {
    AotcCrtKey key;
    const TVMFuncRegistry *registry;
    size_t number;
    int32_t index;
    if (name == NULL || out == NULL) {
        return aotc_crt_bad_argument();
    }
    aotc_crt_make_key(name, &key);
    if (aotc_crt_globals != NULL) {
        index = aotc_crt_find_in_order(&aotc_crt_globals->registry, aotc_crt_globals->hashes, &key);
        if (index >= 0) {
            *out = aotc_crt_handle(AOTC_CRT_GLOBAL_FUNCTIONS, index);
            return kTvmErrorNoError;
        }
    }
    if (aotc_crt_registries[AOTC_CRT_SYSTEM_LIBRARY] == NULL) {
        (void)aotc_crt_system_library();
    }
    for (number = AOTC_CRT_SYSTEM_LIBRARY; number < AOTC_CRT_REGISTRIES; ++number) {
        registry = aotc_crt_registries[number];
        if (registry == NULL) {
            continue;
        }
        index = aotc_crt_find(registry, &key);
        if (index >= 0) {
            *out = aotc_crt_handle(number, index);
            return kTvmErrorNoError;
        }
    }
    *out = NULL;
    return aotc_crt_unknown(name);
}

int TVMFuncCall(TVMFunctionHandle func, TVMValue *arg_values, int *type_codes, int num_args,
                TVMValue *ret_val, int *ret_type_code) {
    const uintptr_t handle = (uintptr_t)func;
    /* Wraps for NULL and module handles, to the number of no registry. */
    const uintptr_t number = (handle >> AOTC_CRT_INDEX_BITS) - 1;
    const uintptr_t index = handle & INDEX_MASK;
    const TVMFuncRegistry *registry = NULL;
    if (number < AOTC_CRT_REGISTRIES) {
        registry = aotc_crt_registries[number];
    }
    if (registry == NULL || index >= aotc_crt_count(registry)) {
        return aotc_crt_fail(kTvmErrorFunctionIndexInvalid, "call of a bad handle", "",
                             " [crt-function-handle]");
    }
    if (ret_val == NULL || ret_type_code == NULL) {
        return aotc_crt_bad_argument();
    }
    ret_val->v_int64 = 0;
    *ret_type_code = kTVMNullptr;
    return registry->funcs[index](arg_values, type_codes, num_args, ret_val, ret_type_code, NULL);
}

int TVMFuncFree(TVMFunctionHandle func) {
    (void)func;
    return kTvmErrorNoError;
}
