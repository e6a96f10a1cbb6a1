#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>

#include "internal.h"

/* The number that a module handle stands for, AOTC_CRT_GLOBAL_FUNCTIONS if for no module. */
static size_t module_number(TVMModuleHandle mod) {
    const uintptr_t number = (uintptr_t)mod - 1;
    if (mod == NULL || number >= AOTC_CRT_FIRST_MODULE + TVM_CRT_MAX_REGISTERED_MODULES ||
        aotc_crt_registry((size_t)number) == NULL) {
        return AOTC_CRT_GLOBAL_FUNCTIONS;
    }
    return (size_t)number;
}

static int bad_module(void) {
    return aotc_crt_fail(kTvmErrorFunctionCallInvalidArg, "not a module's handle", "",
                         " [crt-module-handle]");
}

int TVMModCreateFromCModule(const TVMModule *mod, TVMModuleHandle *out_handle) {
    size_t i;
    size_t slot = TVM_CRT_MAX_REGISTERED_MODULES;
    if (mod == NULL || mod->registry == NULL || out_handle == NULL) {
        return aotc_crt_fail(kTvmErrorFunctionCallInvalidArg, "no module", "", " [crt-argument]");
    }
    *out_handle = NULL;
    for (i = TVM_CRT_MAX_REGISTERED_MODULES; i-- > 0;) {
        if (aotc_crt_modules[i] == mod) {
            slot = i;
            break;
        }
        if (aotc_crt_modules[i] == NULL) {
            slot = i;
        }
    }
    if (slot == TVM_CRT_MAX_REGISTERED_MODULES) {
        return aotc_crt_fail(kTvmErrorFunctionRegistryFull, "too many modules", "",
                             " [crt-modules-full]");
    }
    aotc_crt_modules[slot] = mod;
    *out_handle = (TVMModuleHandle)(uintptr_t)(AOTC_CRT_FIRST_MODULE + slot + 1);
    return kTvmErrorNoError;
}

int TVMModGetFunction(TVMModuleHandle mod, const char *func_name, int query_imports,
                      TVMFunctionHandle *out) {
    const size_t number = module_number(mod);
    AotcCrtKey key;
    (void)query_imports;
    if (out == NULL || func_name == NULL) {
        return aotc_crt_fail(kTvmErrorFunctionCallInvalidArg, "name or place", " is NULL",
                             " [crt-argument]");
    }
    *out = NULL;
    if (number == AOTC_CRT_GLOBAL_FUNCTIONS) {
        return bad_module();
    }
    aotc_crt_make_key(func_name, &key);
    if (!aotc_crt_find_in(number, &key, out)) {
        return aotc_crt_fail(kTvmErrorFunctionNameNotFound, "no function '", func_name,
                             "' [crt-function-unknown]");
    }
    return kTvmErrorNoError;
}

int TVMModFree(TVMModuleHandle mod) {
    const size_t number = module_number(mod);
    if (number == AOTC_CRT_GLOBAL_FUNCTIONS) {
        return bad_module();
    }
    if (number >= AOTC_CRT_FIRST_MODULE) {
        aotc_crt_modules[number - AOTC_CRT_FIRST_MODULE] = NULL;
    }
    return kTvmErrorNoError;
}

int TVMBackendGetFuncFromEnv(void *mod_node, const char *func_name, TVMFunctionHandle *out) {
    if (mod_node != NULL) {
        const int error = TVMModGetFunction(mod_node, func_name, 0, out);
        if (error != kTvmErrorFunctionNameNotFound) {
            return error;
        }
    }
    return TVMFuncGetGlobal(func_name, out);
}
