/*
 * Types that packed functions exchange, and the text of the last error.
 *
 * Names, values and layouts are those of TVM 0.14, so that C emitted for TVM's C runtime compiles
 * against this header. Only what this runtime implements is declared: a function that is missing
 * here is missing at compile time, not at link time.
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

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_C_RUNTIME_API_H_ */
