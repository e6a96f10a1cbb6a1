/* SPDX-License-Identifier: 0BSD */
/*
 * Modules: registries of related functions, such as the system library.
 *
 * The system library is the only module that needs no registration: its functions are available if
 * the program is linked with a definition of TVMSystemLibEntryPoint, which emitted code contains.
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
 * Registers a module, which must stay valid with its registry, and stores its handle. A module that
 * is already registered keeps its handle. kTvmErrorFunctionRegistryFull if there are
 * TVM_CRT_MAX_REGISTERED_MODULES others, kTvmErrorFunctionCallInvalidArg for NULL or a module
 * without a registry.
 */
int TVMModCreateFromCModule(const TVMModule *mod, TVMModuleHandle *out_handle);

/*
 * Returns the system library; the emitted code defines this function. With a compiler that supports
 * weak symbols, a program without a system library needs no definition; with any other compiler it
 * must define this function to return NULL.
 */
const TVMModule *TVMSystemLibEntryPoint(void);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_MODULE_H_ */
