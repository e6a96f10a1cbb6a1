/* SPDX-License-Identifier: 0BSD */
/*
 * Modules: registries of functions that belong together, such as the system library.
 *
 * The system library is the only module that needs no registration. Emitted code defines
 * TVMSystemLibEntryPoint, which returns the system library. If the program is linked with it, the
 * functions of the system library are available.
 */
#ifndef TVM_RUNTIME_CRT_MODULE_H_
#define TVM_RUNTIME_CRT_MODULE_H_

#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/func_registry.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TVMModule {
    const TVMFuncRegistry *registry;
} TVMModule;

/*
 * Registers a module and stores its handle. The module and its registry must stay valid. A module
 * that is already registered keeps its handle. Returns kTvmErrorFunctionRegistryFull if
 * TVM_CRT_MAX_REGISTERED_MODULES others are registered, and kTvmErrorFunctionCallInvalidArg for
 * NULL or a module without a registry.
 */
int TVMModCreateFromCModule(const TVMModule *mod, TVMModuleHandle *out_handle);

/*
 * Returns the system library. The emitted code defines this function. A program without a system
 * library needs no definition if the compiler supports weak symbols; otherwise it must define this
 * function to return NULL.
 */
const TVMModule *TVMSystemLibEntryPoint(void);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_MODULE_H_ */
