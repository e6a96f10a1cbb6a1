/* SPDX-License-Identifier: 0BSD */
/*
 * Modules: registries of functions that belong together, the system library first of all.
 *
 * The system library is the one module that needs no registration: a program that is linked with a
 * definition of TVMSystemLibEntryPoint, which emitted code brings, has its functions.
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
 * Registers a module, which must live on with its registry, and stores its handle. A module that is
 * registered already keeps its handle. kTvmErrorFunctionRegistryFull if there are
 * TVM_CRT_MAX_REGISTERED_MODULES others, kTvmErrorFunctionCallInvalidArg for NULL or a module
 * without a registry.
 */
int TVMModCreateFromCModule(const TVMModule *mod, TVMModuleHandle *out_handle);

/*
 * The system library, defined by the program's emitted code if at all. Where the compiler knows
 * weak symbols the runtime does without; elsewhere a program without one defines this to return
 * NULL.
 */
const TVMModule *TVMSystemLibEntryPoint(void);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_MODULE_H_ */
