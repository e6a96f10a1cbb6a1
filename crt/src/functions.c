#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>

#include "internal.h"

#define INDEX_MASK (((uintptr_t)1 << AOTC_CRT_INDEX_BITS) - 1)

#if defined(__GNUC__)
/* Only referred to weakly here: module.h must not say so, or the definition would be weak, too. */
const TVMModule *TVMSystemLibEntryPoint(void) __attribute__((weak));
#define HAS_SYSTEM_LIBRARY (TVMSystemLibEntryPoint != NULL)
#else
#define HAS_SYSTEM_LIBRARY 1
#endif

const TVMMutableFuncRegistry *aotc_crt_globals;
const TVMModule *aotc_crt_modules[TVM_CRT_MAX_REGISTERED_MODULES];

const TVMModule *aotc_crt_system_library(void) {
    return HAS_SYSTEM_LIBRARY ? TVMSystemLibEntryPoint() : NULL;
}

const TVMFuncRegistry *aotc_crt_registry(size_t number) {
    const TVMModule *module = NULL;
    if (number == AOTC_CRT_SYSTEM_LIBRARY) {
        module = aotc_crt_system_library();
    } else if (number == AOTC_CRT_GLOBAL_FUNCTIONS) {
        return aotc_crt_globals != NULL ? &aotc_crt_globals->registry : NULL;
    } else if (number - AOTC_CRT_FIRST_MODULE < TVM_CRT_MAX_REGISTERED_MODULES) {
        module = aotc_crt_modules[number - AOTC_CRT_FIRST_MODULE];
    }
    return module != NULL ? module->registry : NULL;
}

int aotc_crt_find_in(size_t number, const AotcCrtKey *key, TVMFunctionHandle *out) {
    const TVMFuncRegistry *registry = aotc_crt_registry(number);
    tvm_function_index_t index;
    if (registry == NULL) {
        return 0;
    }
    if (number == AOTC_CRT_GLOBAL_FUNCTIONS ? !aotc_crt_find_mutable(aotc_crt_globals, key, &index)
                                            : !aotc_crt_find(registry, key, &index)) {
        return 0;
    }
    *out = (TVMFunctionHandle)((uintptr_t)(number + 1) << AOTC_CRT_INDEX_BITS | index);
    return 1;
}

int TVMFuncGetGlobal(const char *name, TVMFunctionHandle *out) {
    AotcCrtKey key;
    size_t number;
    if (name == NULL || out == NULL) {
        return aotc_crt_fail(kTvmErrorFunctionCallInvalidArg, "name or place", " is NULL",
                             " [crt-argument]");
    }
    aotc_crt_make_key(name, &key);
    for (number = 0; number < AOTC_CRT_FIRST_MODULE + TVM_CRT_MAX_REGISTERED_MODULES; ++number) {
        if (aotc_crt_find_in(number, &key, out)) {
            return kTvmErrorNoError;
        }
    }
    *out = NULL;
    return aotc_crt_fail(kTvmErrorFunctionNameNotFound, "no function '", name,
                         "' [crt-function-unknown]");
}

int TVMFuncCall(TVMFunctionHandle func, TVMValue *arg_values, int *type_codes, int num_args,
                TVMValue *ret_val, int *ret_type_code) {
    const uintptr_t handle = (uintptr_t)func;
    /* Below 0 for NULL and module handles, which is the number of no registry. */
    const TVMFuncRegistry *registry = aotc_crt_registry((handle >> AOTC_CRT_INDEX_BITS) - 1);
    const uintptr_t index = handle & INDEX_MASK;
    if (registry == NULL || index >= TVMFuncRegistry_GetNumFuncs(registry)) {
        return aotc_crt_fail(kTvmErrorFunctionIndexInvalid, "call of a bad handle", "",
                             " [crt-function-handle]");
    }
    if (ret_val == NULL || ret_type_code == NULL) {
        return aotc_crt_fail(kTvmErrorFunctionCallInvalidArg, "no place for a result", "",
                             " [crt-argument]");
    }
    ret_val->v_int64 = 0;
    *ret_type_code = kTVMNullptr;
    return registry->funcs[index](arg_values, type_codes, num_args, ret_val, ret_type_code, NULL);
}

int TVMFuncFree(TVMFunctionHandle func) {
    (void)func;
    return kTvmErrorNoError;
}
