/* SPDX-License-Identifier: 0BSD */
/*
 * What the files of the runtime share; nobody else includes it.
 *
 * Every registry has a number: that of the global functions, that of the system library, then those
 * of the registered modules. A function handle is the number plus one above the function's index,
 * a module handle the number plus one alone, so that NULL is neither.
 */
#ifndef AOTC_CRT_SRC_INTERNAL_H_
#define AOTC_CRT_SRC_INTERNAL_H_

#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/crt/func_registry.h>
#include <tvm/runtime/crt/module.h>

#define AOTC_CRT_GLOBAL_FUNCTIONS 0u
#define AOTC_CRT_SYSTEM_LIBRARY 1u
#define AOTC_CRT_FIRST_MODULE 2u

/* Bits of a handle for the index: 65536 functions, 4096 where a pointer has 16 bits. */
#if UINTPTR_MAX > 0xffffu
#define AOTC_CRT_INDEX_BITS 16
#else
#define AOTC_CRT_INDEX_BITS 12
#endif

/*
 * In the body of a loop over bytes: keeps the compiler from making a call of memset or memcpy out
 * of the loop, since there may be no libc that has them.
 */
#if defined(__GNUC__)
#define AOTC_CRT_KEEP_LOOP() __asm__ volatile("" ::: "memory")
#else
#define AOTC_CRT_KEEP_LOOP() ((void)0)
#endif

#if TVM_CRT_DEBUG
#define AOTC_CRT_FREE_BYTE 0xdd

/* Marks bytes as free, and tells whether they still are as they were marked. */
static inline void aotc_crt_mark_free(uint8_t *bytes, size_t count) {
    size_t i;
    for (i = 0; i < count; ++i) {
        bytes[i] = AOTC_CRT_FREE_BYTE;
        AOTC_CRT_KEEP_LOOP();
    }
}
static inline int aotc_crt_is_free(const uint8_t *bytes, size_t count) {
    size_t i;
    for (i = 0; i < count; ++i) {
        if (bytes[i] != AOTC_CRT_FREE_BYTE) {
            return 0;
        }
    }
    return 1;
}
#endif

/* A name that is looked up. */
typedef struct {
    const char *name;
    size_t length;
    uint32_t hash; /* FNV-1a, as in TVMFuncRegistry */
} AotcCrtKey;

void aotc_crt_make_key(const char *name, AotcCrtKey *key);

/* The count of functions, from two bytes without an alignment. */
static inline uint16_t aotc_crt_count(const TVMFuncRegistry *reg) {
#if defined(__GNUC__)
    typedef uint16_t Unaligned __attribute__((aligned(1), may_alias));
    return *(const Unaligned *)reg->names;
#else
    uint16_t count;
    unsigned char *bytes = (unsigned char *)&count;
    bytes[0] = (unsigned char)reg->names[0];
    bytes[1] = (unsigned char)reg->names[1];
    return count;
#endif
}

/* Whether two names of that length are the same. */
int aotc_crt_same_bytes(const char *a, const char *b, size_t length);

/* The index of the function of that name, -1 if there is none, going through all of them. hashes is
 * NULL, or the hash of each name in any order. */
int32_t aotc_crt_find_in_order(const TVMFuncRegistry *reg, const uint32_t *hashes,
                               const AotcCrtKey *key);

/* The global functions, NULL before the first is registered. */
extern const TVMMutableFuncRegistry *aotc_crt_globals;

/* All registries by their numbers, NULL where there is none. That of the system library is there
 * only after it was asked for. */
#define AOTC_CRT_REGISTRIES (AOTC_CRT_FIRST_MODULE + TVM_CRT_MAX_REGISTERED_MODULES)
extern const TVMFuncRegistry *aotc_crt_registries[AOTC_CRT_REGISTRIES];

/* The registry of the system library, NULL if the program has none. */
const TVMFuncRegistry *aotc_crt_system_library(void);

/* The handle of a function in the registry of that number. */
static inline TVMFunctionHandle aotc_crt_handle(size_t number, int32_t index) {
    return (TVMFunctionHandle)((uintptr_t)(number + 1) << AOTC_CRT_INDEX_BITS | (uintptr_t)index);
}

/*
 * Makes "BEFORE NAME AFTER" (without the blanks) the text of the last error, NAME cut so that the
 * rest fits if it can, and returns error. after ends in the slug.
 */
tvm_crt_error_t aotc_crt_fail(tvm_crt_error_t error, const char *before, const char *name,
                              const char *after);

/* The error of an argument that is NULL and must not be. */
int aotc_crt_bad_argument(void);

/* The error of a name that no function has. */
int aotc_crt_unknown(const char *name);

#endif /* AOTC_CRT_SRC_INTERNAL_H_ */
