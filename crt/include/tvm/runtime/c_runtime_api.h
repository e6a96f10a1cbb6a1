/* SPDX-License-Identifier: 0BSD */
/*
 * The main interface of the runtime: values that packed functions exchange, functions and modules
 * that are found by name, arrays and memory, and the text of the last error.
 *
 * Names, values and layouts are those of TVM 0.14, so C code for TVM's C runtime compiles with this
 * header. Every function returns 0, or a code of crt/error_codes.h; TVMGetLastError() then returns
 * the reason as text. The header declares only functions that this runtime implements, so the use
 * of any other function is a compile-time error.
 */
#ifndef TVM_RUNTIME_C_RUNTIME_API_H_
#define TVM_RUNTIME_C_RUNTIME_API_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

/* The TVM release whose C interface this header provides. */
#define TVM_VERSION "0.14.0"

/* TVM_DLL marks functions that a model exports; TVM_WEAK, functions that an application may
 * redefine. */
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

/* One argument or result of a packed function. Its TVMArgTypeCode states which member is set. */
typedef union {
    int64_t v_int64;
    double v_float64;
    void *v_handle;
    const char *v_str;
    DLDataType v_type;
    DLDevice v_device;
} TVMValue;

/* States which member of a TVMValue is set, and the type to which v_handle points. 1 is unused. */
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

/* A run of bytes, which may be 0. The creator owns data. */
typedef struct {
    const char *data;
    size_t size;
} TVMByteArray;

/*
 * Stores a copy of msg as the text of the last error, cut to TVM_CRT_LAST_ERROR_BYTES - 1
 * characters. NULL and "" clear the text. The whole program shares one text.
 */
void TVMAPISetLastError(const char *msg);

/* The text of the last error, "" if there was none. Valid until the next TVMAPISetLastError. */
const char *TVMGetLastError(void);

/*
 * Registers a global packed function under a name, which is copied. f is a TVMBackendPackedCFunc
 * cast to a handle, not a handle from TVMFuncGetGlobal. If a global function already has this name,
 * it is replaced if override is not 0; else the result is kTvmErrorFunctionAlreadyDefined. The
 * registry has room for TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES.
 */
int TVMFuncRegisterGlobal(const char *name, TVMFunctionHandle f, int override);

/*
 * Stores in *out the handle of the function with that name. The functions registered with
 * TVMFuncRegisterGlobal are searched first, then the system library, then registered modules. If
 * there is no such function, *out is NULL and the result is kTvmErrorFunctionNameNotFound.
 * A handle is a number cast to a pointer, so nothing is allocated. It is valid as long as the
 * module of the function.
 */
int TVMFuncGetGlobal(const char *name, TVMFunctionHandle *out);

/*
 * Calls a function by its handle with num_args arguments and returns its result. *ret_val and
 * *ret_type_code are set to 0 and kTVMNullptr before the call, and keep these values if the
 * function returns no value. Neither pointer may be NULL or point to an argument. The result for an
 * invalid handle is kTvmErrorFunctionIndexInvalid. The called function may call other functions,
 * also by handle.
 */
int TVMFuncCall(TVMFunctionHandle func, TVMValue *arg_values, int *type_codes, int num_args,
                TVMValue *ret_val, int *ret_type_code);

/* Does nothing, because handles need no memory. Exists for code that also uses other runtimes. */
int TVMFuncFree(TVMFunctionHandle func);

/*
 * Stores num_ret values and their codes in ret, a TVMArgs of crt/packed_func.h. If there are more
 * than TVM_CRT_MAX_ARGS, the result is kTvmErrorFunctionCallNumArguments.
 */
int TVMCFuncSetReturn(TVMRetValueHandle ret, TVMValue *value, int *type_code, int num_ret);

/*
 * Stores in *out the handle of a function of one module. Modules have no imports, so query_imports
 * has no effect. The errors are those of TVMFuncGetGlobal, and kTvmErrorFunctionCallInvalidArg if
 * mod is not a module.
 */
int TVMModGetFunction(TVMModuleHandle mod, const char *func_name, int query_imports,
                      TVMFunctionHandle *out);

/* Unregisters a module that TVMModCreateFromCModule registered. The handles of its functions become
 * invalid. The system library cannot be freed. */
int TVMModFree(TVMModuleHandle mod);

/*
 * Allocates a row-major array with uninitialised elements. The DLTensor and its shape are one block
 * of CPU memory; the elements are a second block, in memory of device {device_type, device_id}.
 * ndim is at most TVM_CRT_MAX_NDIM.
 */
int TVMArrayAlloc(const tvm_index_t *shape, int ndim, int dtype_code, int dtype_bits,
                  int dtype_lanes, int device_type, int device_id, TVMArrayHandle *out);

/* Frees both blocks of an array, the elements first. With a stack allocator, free arrays in the
 * reverse order of their allocation. */
int TVMArrayFree(TVMArrayHandle handle);

/* Allocates nbytes of a device's memory. Returns kTvmErrorFunctionCallInvalidArg if alignment is
 * not a power of two or exceeds TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES. type_hint is not used. */
int TVMDeviceAllocDataSpace(DLDevice dev, size_t nbytes, size_t alignment, DLDataType type_hint,
                            void **out_data);

/* Allocates memory for an array of this shape and element type. mem_scope must be "global", "" or
 * NULL; the result for any other is kTvmErrorFunctionCallInvalidArg. */
int TVMDeviceAllocDataSpaceWithScope(DLDevice dev, int ndim, const int64_t *shape, DLDataType dtype,
                                     const char *mem_scope, void **out_data);

int TVMDeviceFreeDataSpace(DLDevice dev, void *ptr);

/*
 * Copies the elements of an array to another array with the same number of bytes. Both must be
 * row-major without gaps, and the CPU must be able to address both. stream is not used: the copy is
 * complete on return.
 */
int TVMDeviceCopyDataFromTo(DLTensor *from, DLTensor *to, TVMStreamHandle stream);

/* There is only the stream NULL. All work on it is complete when a call returns, so no function
 * waits. */
int TVMStreamCreate(int device_type, int device_id, TVMStreamHandle *out);
int TVMStreamFree(int device_type, int device_id, TVMStreamHandle stream);
int TVMSetStream(int device_type, int device_id, TVMStreamHandle handle);
int TVMSynchronize(int device_type, int device_id, TVMStreamHandle stream);

/* Frees arr->data, then arr. Both must be CPU memory from TVMPlatformMemoryAllocate. */
int TVMByteArrayFree(TVMByteArray *arr);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_C_RUNTIME_API_H_ */
