/* SPDX-License-Identifier: 0BSD */
/*
 * Initialises the runtime.
 *
 * Models and system libraries run without this initialisation. A server of remote calls needs it
 * at the start, and again to restart.
 */
#ifndef TVM_RUNTIME_CRT_CRT_H_
#define TVM_RUNTIME_CRT_CRT_H_

#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Removes all global functions, modules and the last error's text, and registers the global
 * function "runtime.SystemLib" (no arguments; returns the system library as kTVMModuleHandle).
 * Memory is unchanged: TVMPlatformInitialize prepares it.
 */
tvm_crt_error_t TVMInitializeRuntime(void);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_CRT_H_ */
