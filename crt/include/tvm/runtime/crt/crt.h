/* SPDX-License-Identifier: 0BSD */
/*
 * Starting the runtime.
 *
 * Models and system libraries run without it. A server of calls from outside calls it first, and
 * again to begin anew.
 */
#ifndef TVM_RUNTIME_CRT_CRT_H_
#define TVM_RUNTIME_CRT_CRT_H_

#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Forgets all global functions, modules and the last error's text, and registers the global
 * function "runtime.SystemLib" (no arguments; returns the system library as kTVMModuleHandle).
 * Memory is not touched: a platform that prepares it has TVMPlatformInitialize.
 */
tvm_crt_error_t TVMInitializeRuntime(void);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_CRT_H_ */
