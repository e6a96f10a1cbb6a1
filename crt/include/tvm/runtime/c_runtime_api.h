/* SPDX-License-Identifier: 0BSD */
/*
 * Types that packed functions exchange, functions and modules found by name, arrays and memory, and
 * the text of the last error.
 *
 * Names, values and layouts are those of TVM 0.14, so that C emitted for TVM's C runtime compiles
 * against this header. Every function returns 0, or a code of crt/error_codes.h, and then the
 * reason in words is TVMGetLastError(). Only what this runtime implements is declared: a function
 * that is missing here is missing at compile time, not at link time.
 */
#ifndef TVM_RUNTIME_C_RUNTIME_API_H_
#define TVM_RUNTIME_C_RUNTIME_API_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

/* The TVM release whose C interface this is. */
#define TVM_VERSION "0.14.0"

/* TVM_DLL marks what a model exports, TVM_WEAK what an application may define itself. */
#if defined(__GNUC__)
#ifndef TVM_DLL
#define TVM_DLL __attribute__((visibility("default")))
#endif
#ifndef TVM_WEAK
#define TVM_WEAK __attribute__((weak))
#endif
#else
#ifndef TVM_DLL
#define TVM_DLL
#endif
#ifndef TVM_WEAK
#define TVM_WEAK
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t tvm_index_t;

typedef void *TVMModuleHandle;
typedef void *TVMFunctionHandle;
typedef void *TVMRetValueHandle;
typedef void *TVMStreamHandle;
typedef void *TVMObjectHandle;
typedef DLTensor *TVMArrayHandle;

/* One argument or result of a packed function; its TVMArgTypeCode says which member is set. */
typedef union {
    int64_t v_int64;
    double v_float64;
    void *v_handle;
    const char *v_str;
    DLDataType v_type;
    DLDevice v_device;
} TVMValue;

/* The member of a TVMValue that is set, and what a v_handle points at. 1 is not in use. */
typedef enum {
    kTVMArgInt = 0,
    kTVMArgFloat = 2,
    kTVMOpaqueHandle = 3,
    kTVMNullptr = 4,
    kTVMDataType = 5,
    kDLDevice = 6,
    kTVMDLTensorHandle = 7,
    kTVMObjectHandle = 8,
    kTVMModuleHandle = 9,
    kTVMPackedFuncHandle = 10,
    kTVMStr = 11,
    kTVMBytes = 12,
    kTVMNDArrayHandle = 13,
    kTVMObjectRValueRefArg = 14
} TVMArgTypeCode;

/* Bytes that may contain zeros; the creator owns data. */
typedef struct {
    const char *data;
    size_t size;
} TVMByteArray;

/*
 * Remembers a copy of msg as the text of the last error, cut to TVM_CRT_LAST_ERROR_BYTES - 1
 * characters. NULL and "" forget it. The one text is shared by the whole program.
 */
void TVMAPISetLastError(const char *msg);

/* The text of the last error, "" if there was none. Valid until the next TVMAPISetLastError. */
const char *TVMGetLastError(void);

/*
 * Makes a packed function known to the whole program: f is a TVMBackendPackedCFunc as a handle, not
 * what TVMFuncGetGlobal gives. The name is copied. An existing global of that name is replaced if
 * override is not 0, and is kTvmErrorFunctionAlreadyDefined otherwise. Room is
 * TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES.
 */
int TVMFuncRegisterGlobal(const char *name, TVMFunctionHandle f, int override);

/*
 * Stores in *out the handle of the function with that name: of those registered with
 * TVMFuncRegisterGlobal, then those of the system library, then those of registered modules, the
 * first. Without such a function *out is NULL and the result kTvmErrorFunctionNameNotFound.
 * A handle is a number in a pointer's clothes: nothing is allocated, and it stays good as long as
 * its module.
 */
int TVMFuncGetGlobal(const char *name, TVMFunctionHandle *out);

/*
 * Calls a function by its handle with num_args arguments and returns what it returns. *ret_val and
 * *ret_type_code are 0 and kTVMNullptr before, so also after a function that returns no value; both
 * pointers must be there, and point at none of the arguments. A handle that stands for no function
 * gives kTvmErrorFunctionIndexInvalid. A function may call others in its turn, by handle too.
 */
int TVMFuncCall(TVMFunctionHandle func, TVMValue *arg_values, int *type_codes, int num_args,
                TVMValue *ret_val, int *ret_type_code);

/* Gives a handle back, which takes nothing: for code that is shared with TVM's other runtimes. */
int TVMFuncFree(TVMFunctionHandle func);

/*
 * Stores num_ret values and their codes in ret, a TVMArgs of crt/packed_func.h. More than
 * TVM_CRT_MAX_ARGS give kTvmErrorFunctionCallNumArguments.
 */
int TVMCFuncSetReturn(TVMRetValueHandle ret, TVMValue *value, int *type_code, int num_ret);

/*
 * Stores in *out the handle of a function of one module. A module imports no other, so
 * query_imports changes nothing. Errors as TVMFuncGetGlobal, and kTvmErrorFunctionCallInvalidArg if
 * mod is no module.
 */
int TVMModGetFunction(TVMModuleHandle mod, const char *func_name, int query_imports,
                      TVMFunctionHandle *out);

/* Forgets a module that TVMModCreateFromCModule registered; the handles of its functions die with
 * it. The system library stays whatever is freed. */
int TVMModFree(TVMModuleHandle mod);

/*
 * Makes an array with row-major elements of indeterminate value in memory of the device
 * {device_type, device_id}: one block for the DLTensor and its shape from the CPU, then one for the
 * elements. ndim is at most TVM_CRT_MAX_NDIM.
 */
int TVMArrayAlloc(const tvm_index_t *shape, int ndim, int dtype_code, int dtype_bits,
                  int dtype_lanes, int device_type, int device_id, TVMArrayHandle *out);

/* Frees both blocks, elements first. With a stack as memory: the newest array first. */
int TVMArrayFree(TVMArrayHandle handle);

/* nbytes of a device's memory. An alignment above TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES, or that is no
 * power of two, gives kTvmErrorFunctionCallInvalidArg; type_hint is not used. */
int TVMDeviceAllocDataSpace(DLDevice dev, size_t nbytes, size_t alignment, DLDataType type_hint,
                            void **out_data);

/* The bytes that elements of that shape need. The only scope is "global", which NULL and "" mean
 * as well; another gives kTvmErrorFunctionCallInvalidArg. */
int TVMDeviceAllocDataSpaceWithScope(DLDevice dev, int ndim, const int64_t *shape, DLDataType dtype,
                                     const char *mem_scope, void **out_data);

int TVMDeviceFreeDataSpace(DLDevice dev, void *ptr);

/*
 * Copies the elements of one array to another of as many bytes. The memory of every device must be
 * addressable; both arrays must be row-major without gaps. stream is not used: the copy is done on
 * return.
 */
int TVMDeviceCopyDataFromTo(DLTensor *from, DLTensor *to, TVMStreamHandle stream);

/* There is one stream, NULL, and work on it is done when its call returns: nothing to wait for. */
int TVMStreamCreate(int device_type, int device_id, TVMStreamHandle *out);
int TVMStreamFree(int device_type, int device_id, TVMStreamHandle stream);
int TVMSetStream(int device_type, int device_id, TVMStreamHandle handle);
int TVMSynchronize(int device_type, int device_id, TVMStreamHandle stream);

/* Frees arr->data, then arr, both from TVMPlatformMemoryAllocate for the CPU. */
int TVMByteArrayFree(TVMByteArray *arr);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_C_RUNTIME_API_H_ */
