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

/* A name that is looked up. */
typedef struct {
    const char *name;
    size_t length;
    uint32_t hash; /* FNV-1a, as in TVMFuncRegistry */
} AotcCrtKey;

void aotc_crt_make_key(const char *name, AotcCrtKey *key);

/* 1 and the index, or 0 if there is no such function. */
int aotc_crt_find(const TVMFuncRegistry *reg, const AotcCrtKey *key, tvm_function_index_t *index);
int aotc_crt_find_mutable(const TVMMutableFuncRegistry *reg, const AotcCrtKey *key,
                          tvm_function_index_t *index);

/* Stores the handle of the function of that name in the registry of that number: 1, or 0. */
int aotc_crt_find_in(size_t number, const AotcCrtKey *key, TVMFunctionHandle *out);

/* The global functions, NULL before the first is registered. */
extern const TVMMutableFuncRegistry *aotc_crt_globals;

/* The registered modules, NULL where there is none. */
extern const TVMModule *aotc_crt_modules[TVM_CRT_MAX_REGISTERED_MODULES];

/* The registry of that number, NULL if there is none. */
const TVMFuncRegistry *aotc_crt_registry(size_t number);

/* The system library, NULL if the program has none. */
const TVMModule *aotc_crt_system_library(void);

/*
 * Makes "BEFORE NAME AFTER" (without the blanks) the text of the last error, NAME cut so that the
 * rest fits, and returns error. after ends in the slug.
 */
tvm_crt_error_t aotc_crt_fail(tvm_crt_error_t error, const char *before, const char *name,
                              const char *after);

#endif /* AOTC_CRT_SRC_INTERNAL_H_ */
