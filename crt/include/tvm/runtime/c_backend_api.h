/* SPDX-License-Identifier: 0BSD */
/*
 * The functions that the emitted C calls while a model runs.
 *
 * A model that is compiled with a static arena needs none of them. A model that is compiled for
 * workspace memory allocates every intermediate tensor with TVMBackendAllocWorkspace. It frees the
 * newest tensor first, so a stack allocator is sufficient. A packed function that calls another one
 * by name finds it with TVMBackendGetFuncFromEnv and calls it with TVMFuncCall. Functions return
 * the codes of c_runtime_api.h.
 */
#ifndef TVM_RUNTIME_C_BACKEND_API_H_
#define TVM_RUNTIME_C_BACKEND_API_H_

#include <stdint.h>
#include <tvm/runtime/c_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A packed function: it receives num_args values with their TVMArgTypeCodes, and stores at most one
 * result with its code. Returns 0 for success.
 */
typedef int (*TVMBackendPackedCFunc)(TVMValue *args, int *type_codes, int num_args,
                                     TVMValue *out_ret_value, int *out_ret_tcode,
                                     void *resource_handle);

/*
 * Allocates nbytes of uninitialised memory of device {device_type, device_id} with
 * TVMPlatformMemoryAllocate, which determines the alignment. The default hook aligns to
 * TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES. The two hints describe the element type and are not used.
 * Returns NULL if there is not enough memory; TVMGetLastError then returns the reason.
 */
void *TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int dtype_code_hint,
                               int dtype_bits_hint);

/*
 * Frees memory that TVMBackendAllocWorkspace returned for the same device. Returns 0, or the
 * tvm_crt_error_t of TVMPlatformMemoryFree with the reason in TVMGetLastError.
 */
int TVMBackendFreeWorkspace(int device_type, int device_id, void *ptr);

/*
 * Finds a function by its name: first in module mod_node, if it is not NULL, then as
 * TVMFuncGetGlobal does.
 */
int TVMBackendGetFuncFromEnv(void *mod_node, const char *func_name, TVMFunctionHandle *out);

/* Registers the packed function at ptr, so that it can be found by its name. */
int TVMBackendRegisterSystemLibSymbol(const char *name, void *ptr);

/*
 * Always returns kTvmErrorFunctionCallNotImplemented. In TVM, it passes a function of the runtime
 * to a module that is loaded at run time. In this runtime, modules are linked and use the runtime's
 * functions by their symbols.
 */
int TVMBackendRegisterEnvCAPI(const char *name, void *ptr);

/* The group of tasks of a parallel region. */
typedef struct {
    void *sync_handle;
    int32_t num_task;
} TVMParallelGroupEnv;

/* One task of a parallel region. It receives its number, its group, and the cdata of the launch. */
typedef int (*FTVMParallelLambda)(int task_id, TVMParallelGroupEnv *penv, void *cdata);

/*
 * Runs a parallel region as a single task, number 0 of 1, whatever num_task requests. Returns the
 * result of the task.
 */
int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void *cdata, int num_task);

/* In TVM, waits for the other tasks of the region. Here there are none, so it returns at once. */
int TVMBackendParallelBarrier(int task_id, TVMParallelGroupEnv *penv);

/*
 * Calls f(cdata) and returns its status. Does nothing if an earlier call with the same handle
 * succeeded. *handle must be NULL at first; it stays NULL if f fails, so that the next call tries
 * again. nbytes, the size of cdata, is not used.
 */
int TVMBackendRunOnce(void **handle, int (*f)(void *), void *cdata, int nbytes);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_C_BACKEND_API_H_ */
