/* SPDX-License-Identifier: 0BSD */
/*
 * Registries: tables of packed functions with their names. A registry is either constant and
 * emitted by a compiler, or filled at run time in a buffer of the caller.
 *
 * A registry with the fields hashes and offsets is searched with a few comparisons, however many
 * functions it has; any other registry is searched name by name. TVM does not have these two
 * fields. They are at the end of the structure, so an initialiser that was written for TVM sets
 * them to NULL.
 */
#ifndef TVM_RUNTIME_CRT_FUNC_REGISTRY_H_
#define TVM_RUNTIME_CRT_FUNC_REGISTRY_H_

#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/crt_config.h>
#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint16_t tvm_function_index_t;
typedef uint16_t tvm_module_index_t;

/* The functions 0 .. count - 1 and their names. */
typedef struct TVMFuncRegistry {
    /* The count as an unaligned uint16_t in the machine's byte order, then that many names, each
     * followed by a zero byte. */
    const char *names;
    const TVMBackendPackedCFunc *funcs;
    /*
     * NULL, or the 32-bit FNV-1a hash of each name, in ascending order (offset basis 0x811c9dc5,
     * prime 0x01000193; without the zero byte). names and funcs then have the order of the hashes.
     */
    const uint32_t *hashes;
    /*
     * NULL, or the byte offset of each name in names; entry `count` is the offset of the end.
     * Without offsets, hashes avoid most comparisons, but the search still walks through all names.
     */
    const uint16_t *offsets;
} TVMFuncRegistry;

/* Stores the index of the function with this name; kTvmErrorFunctionNameNotFound if there is none.
 * Searches all names or hashes, so TVMFuncGetGlobal is faster. */
tvm_crt_error_t TVMFuncRegistry_Lookup(const TVMFuncRegistry *reg, const char *name,
                                       tvm_function_index_t *function_index);

/* Stores the function at an index; kTvmErrorFunctionIndexInvalid if there is none. */
tvm_crt_error_t TVMFuncRegistry_GetByIndex(const TVMFuncRegistry *reg, tvm_function_index_t index,
                                           TVMBackendPackedCFunc *out_func);

uint16_t TVMFuncRegistry_GetNumFuncs(const TVMFuncRegistry *reg);

/* Returns the name at an index; NULL if there is none. */
const char *TVMFuncRegistry_GetName(const TVMFuncRegistry *reg, tvm_function_index_t index);

/*
 * A registry to which functions can be added. Only TVMMutableFuncRegistry_Create and _Set may write
 * to it; the member registry can be used like any other registry. Indices stay valid, because
 * functions can be replaced but not removed.
 */
typedef struct TVMMutableFuncRegistry {
    TVMFuncRegistry registry; /* in the order of registration, so registry.hashes is NULL */
    size_t max_functions;
    /* These arrays are stored in the caller's buffer. */
    char *names;
    TVMBackendPackedCFunc *funcs;
    uint32_t *hashes;
    uint16_t *offsets;
    size_t names_bytes; /* capacity of names */
} TVMMutableFuncRegistry;

/* Assumed average length of a name, to compute the size of a buffer. */
#define TVM_AVERAGE_FUNCTION_NAME_STRLEN_BYTES 16

/* Bytes that a function with a name of average length takes in a buffer. */
#define TVM_AVERAGE_FUNC_ENTRY_SIZE_BYTES                                  \
    (sizeof(TVMBackendPackedCFunc) + sizeof(uint32_t) + sizeof(uint16_t) + \
     TVM_AVERAGE_FUNCTION_NAME_STRLEN_BYTES + 1)

/*
 * Creates an empty registry in the buffer, which must stay valid. Its capacity is the number of
 * entries of average size that fit into the buffer; longer names reduce it. Returns
 * kTvmErrorBufferTooSmall if no entry fits, and kTvmErrorFunctionCallInvalidArg for NULL.
 */
tvm_crt_error_t TVMMutableFuncRegistry_Create(TVMMutableFuncRegistry *reg, uint8_t *buffer,
                                              size_t buffer_size_bytes);

/*
 * Adds a function under a name, which is copied. If a function already has this name, replaces it
 * if override is not 0, else returns kTvmErrorFunctionAlreadyDefined. Returns
 * kTvmErrorFunctionRegistryFull if there is no room, kTvmErrorBufferTooSmall for a name of
 * TVM_CRT_MAX_STRLEN_FUNCTION_NAME characters or more, and kTvmErrorFunctionCallInvalidArg for NULL
 * or an empty name.
 */
tvm_crt_error_t TVMMutableFuncRegistry_Set(TVMMutableFuncRegistry *reg, const char *name,
                                           TVMBackendPackedCFunc func, int override);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_FUNC_REGISTRY_H_ */
