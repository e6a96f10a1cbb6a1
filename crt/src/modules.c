/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>

#include "internal.h"

/* The number that a module handle stands for, AOTC_CRT_GLOBAL_FUNCTIONS if for no module. */
static size_t module_number(TVMModuleHandle mod) {
    const uintptr_t number = (uintptr_t)mod - 1;
    (void)aotc_crt_system_library();
    if (mod == NULL || number >= AOTC_CRT_REGISTRIES || aotc_crt_registries[number] == NULL) {
        return AOTC_CRT_GLOBAL_FUNCTIONS;
    }
    return (size_t)number;
}

static int bad_module(void) {
    return aotc_crt_fail(kTvmErrorFunctionCallInvalidArg, "not a module's handle", "",
                         " [crt-module-handle]");
}

int TVMModCreateFromCModule(const TVMModule *mod, TVMModuleHandle *out_handle) {
    size_t number = AOTC_CRT_REGISTRIES;
    size_t i;
    if (mod == NULL || mod->registry == NULL || out_handle == NULL) {
        return aotc_crt_bad_argument();
    }
    *out_handle = NULL;
    for (i = AOTC_CRT_REGISTRIES; i-- > AOTC_CRT_FIRST_MODULE;) {
        if (aotc_crt_registries[i] == mod->registry) {
            number = i;
            break;
        }
        if (aotc_crt_registries[i] == NULL) {
            number = i;
        }
    }
    if (number == AOTC_CRT_REGISTRIES) {
        return aotc_crt_fail(kTvmErrorFunctionRegistryFull, "too many modules", "",
                             " [crt-modules-full]");
    }
    aotc_crt_registries[number] = mod->registry;
    *out_handle = (TVMModuleHandle)(uintptr_t)(number + 1);
    return kTvmErrorNoError;
}

int TVMModGetFunction(TVMModuleHandle mod, const char *func_name, int query_imports,
                      TVMFunctionHandle *out) {
    const size_t number = module_number(mod);
    tvm_function_index_t index;
    (void)query_imports;
    if (out == NULL || func_name == NULL) {
        return aotc_crt_bad_argument();
    }
    *out = NULL;
    if (number == AOTC_CRT_GLOBAL_FUNCTIONS) {
        return bad_module();
    }
    if (TVMFuncRegistry_Lookup(aotc_crt_registries[number], func_name, &index) !=
        kTvmErrorNoError) {
        return aotc_crt_unknown(func_name);
    }
    *out = aotc_crt_handle(number, index);
    return kTvmErrorNoError;
}

int TVMModFree(TVMModuleHandle mod) {
    const size_t number = module_number(mod);
    if (number == AOTC_CRT_GLOBAL_FUNCTIONS) {
        return bad_module();
    }
    if (number >= AOTC_CRT_FIRST_MODULE) {
        aotc_crt_registries[number] = NULL;
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
