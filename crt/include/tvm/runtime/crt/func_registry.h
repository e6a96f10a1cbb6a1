/* SPDX-License-Identifier: 0BSD */
/*
 * Tables of packed functions with their names: constant tables that a compiler emits, and tables
 * that are filled at run time in the caller's buffer.
 *
 * A table with hashes and offsets is searched with a few comparisons, however many functions it
 * has; any other table is searched name by name. aotc added both fields at the end of the
 * structure, so an initialiser that was written for TVM leaves them NULL.
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

/* Functions 0 .. count - 1, named. */
typedef struct TVMFuncRegistry {
    /* The count as a uint16_t in the byte order and without the alignment of the machine, then that
     * many names, each ended by a zero. */
    const char *names;
    const TVMBackendPackedCFunc *funcs;
    /*
     * NULL, or the 32-bit FNV-1a hash of each name (its bytes without the zero; offset basis
     * 0x811c9dc5, prime 0x01000193), in ascending order; names and funcs have the same order.
     */
    const uint32_t *hashes;
    /*
     * NULL, or the byte offset of each name in names; entry `count` is the offset of the end. Hashes
     * without offsets avoid most comparisons, but not the search through all names.
     */
    const uint16_t *offsets;
} TVMFuncRegistry;

/* The index of the function of that name; kTvmErrorFunctionNameNotFound if there is none. Searches
 * all names or hashes; TVMFuncGetGlobal is faster. */
tvm_crt_error_t TVMFuncRegistry_Lookup(const TVMFuncRegistry *reg, const char *name,
                                       tvm_function_index_t *function_index);

/* The function at an index; kTvmErrorFunctionIndexInvalid if there is none. */
tvm_crt_error_t TVMFuncRegistry_GetByIndex(const TVMFuncRegistry *reg, tvm_function_index_t index,
                                           TVMBackendPackedCFunc *out_func);

uint16_t TVMFuncRegistry_GetNumFuncs(const TVMFuncRegistry *reg);

/* The name at an index, NULL if there is none. */
const char *TVMFuncRegistry_GetName(const TVMFuncRegistry *reg, tvm_function_index_t index);

/*
 * A registry to which functions can be added. Only TVMMutableFuncRegistry_Create and _Set write to
 * it; `registry` can be read like any other. Indices stay valid: a function is replaced, never
 * removed.
 */
typedef struct TVMMutableFuncRegistry {
    TVMFuncRegistry registry; /* hashes == NULL: in the order of registration, not of hashes */
    size_t max_functions;
    /* These arrays share the caller's buffer. */
    char *names;
    TVMBackendPackedCFunc *funcs;
    uint32_t *hashes;
    uint16_t *offsets;
    size_t names_bytes; /* room for names */
} TVMMutableFuncRegistry;

/* Assumed average length of a name, for the size of a buffer. */
#define TVM_AVERAGE_FUNCTION_NAME_STRLEN_BYTES 16

/* Bytes of a buffer for one function with a name of average length. */
#define TVM_AVERAGE_FUNC_ENTRY_SIZE_BYTES                                  \
    (sizeof(TVMBackendPackedCFunc) + sizeof(uint32_t) + sizeof(uint16_t) + \
     TVM_AVERAGE_FUNCTION_NAME_STRLEN_BYTES + 1)

/*
 * Makes the buffer, which must stay valid, an empty registry. Its capacity is the number of entries
 * of average size that fit; longer names reduce it. kTvmErrorBufferTooSmall if not one fits,
 * kTvmErrorFunctionCallInvalidArg for NULL.
 */
tvm_crt_error_t TVMMutableFuncRegistry_Create(TVMMutableFuncRegistry *reg, uint8_t *buffer,
                                              size_t buffer_size_bytes);

/*
 * Adds a function, or replaces the one of that name if override is not 0. The name is copied.
 * kTvmErrorFunctionAlreadyDefined, kTvmErrorFunctionRegistryFull, kTvmErrorBufferTooSmall for a
 * name of TVM_CRT_MAX_STRLEN_FUNCTION_NAME characters or more, kTvmErrorFunctionCallInvalidArg for
 * NULL or an empty name.
 */
tvm_crt_error_t TVMMutableFuncRegistry_Set(TVMMutableFuncRegistry *reg, const char *name,
                                           TVMBackendPackedCFunc func, int override);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_FUNC_REGISTRY_H_ */
