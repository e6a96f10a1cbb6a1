/* SPDX-License-Identifier: 0BSD */
/*
 * Initialises the runtime.
 *
 * Models and system libraries need no initialisation. A server of remote calls needs it at its
 * start and at each restart.
 */
#ifndef TVM_RUNTIME_CRT_CRT_H_
#define TVM_RUNTIME_CRT_CRT_H_

#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Removes all global functions, all modules and the text of the last error. Then registers the
 * global function "runtime.SystemLib", which has no arguments and returns the system library as a
 * kTVMModuleHandle. Does not initialise memory: TVMPlatformInitialize does.
 */
tvm_crt_error_t TVMInitializeRuntime(void);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_CRT_H_ */
