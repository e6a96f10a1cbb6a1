/* SPDX-License-Identifier: 0BSD */
/*
 * The functions that the emitted C calls while a model runs.
 *
 * A model compiled with a static arena needs none of them. A model compiled for workspace memory
 * allocates every intermediate tensor with TVMBackendAllocWorkspace and frees the newest first, so
 * a stack can serve as the heap. A packed function that calls another one by name finds it with
 * TVMBackendGetFuncFromEnv and calls it with TVMFuncCall. Functions return the codes of
 * c_runtime_api.h.
 */
#ifndef TVM_RUNTIME_C_BACKEND_API_H_
#define TVM_RUNTIME_C_BACKEND_API_H_

#include <stdint.h>
#include <tvm/runtime/c_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A function in the packed convention: num_args values with their TVMArgTypeCodes in, at most one
 * value with its code out. Returns 0 for success.
 */
typedef int (*TVMBackendPackedCFunc)(TVMValue *args, int *type_codes, int num_args,
                                     TVMValue *out_ret_value, int *out_ret_tcode,
                                     void *resource_handle);

/*
 * Allocates nbytes of memory of device {device_type, device_id} with TVMPlatformMemoryAllocate,
 * which determines the alignment (the stack binding: TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES). The
 * memory is uninitialised. The two hints name the element type and are not used. Returns NULL if
 * there is not enough memory; TVMGetLastError then returns the reason.
 */
void *TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int dtype_code_hint,
                               int dtype_bits_hint);

/*
 * Frees memory that TVMBackendAllocWorkspace returned for the same device. Returns 0, or the
 * tvm_crt_error_t of TVMPlatformMemoryFree with the reason in TVMGetLastError.
 */
int TVMBackendFreeWorkspace(int device_type, int device_id, void *ptr);

/*
 * Finds a function by its name: first in module mod_node (NULL: no module), then as
 * TVMFuncGetGlobal does.
 */
int TVMBackendGetFuncFromEnv(void *mod_node, const char *func_name, TVMFunctionHandle *out);

/* Registers the packed function at ptr, so that it can be found by its name. */
int TVMBackendRegisterSystemLibSymbol(const char *name, void *ptr);

/*
 * In TVM, passes a function of the runtime to a module that is loaded at run time. Here modules
 * are linked and use the runtime's functions by their symbols, so this always returns
 * kTvmErrorFunctionCallNotImplemented.
 */
int TVMBackendRegisterEnvCAPI(const char *name, void *ptr);

/* The group of a parallel task. */
typedef struct {
    void *sync_handle;
    int32_t num_task;
} TVMParallelGroupEnv;

/* One task of a parallel region: its number, its group, and the argument of the launch. */
typedef int (*FTVMParallelLambda)(int task_id, TVMParallelGroupEnv *penv, void *cdata);

/*
 * Runs a parallel region as its one task, 0 of 1, whatever num_task requests, and returns the
 * result of the task.
 */
int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void *cdata, int num_task);

/* Waits for the other tasks of the region. Returns at once, because there are none. */
int TVMBackendParallelBarrier(int task_id, TVMParallelGroupEnv *penv);

/*
 * Calls f(cdata) unless a call with the same handle has succeeded, and returns its status. *handle
 * is NULL at first and stays NULL if f fails, so that the next call tries again. nbytes, the size
 * of cdata, is not used.
 */
int TVMBackendRunOnce(void **handle, int (*f)(void *), void *cdata, int nbytes);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_C_BACKEND_API_H_ */
