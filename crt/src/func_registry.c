/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/crt/func_registry.h>

#include "internal.h"

#define FNV_OFFSET_BASIS UINT32_C(0x811c9dc5)
#define FNV_PRIME UINT32_C(0x01000193)

void aotc_crt_make_key(const char *name, AotcCrtKey *key) {
    const uint8_t *at = (const uint8_t *)name;
    uint32_t hash = FNV_OFFSET_BASIS;
    /* Half of the time of a search goes here: four bytes a turn save jumps. */
    for (; at[0] != 0; at += 4) {
        hash = (hash ^ at[0]) * FNV_PRIME;
        if (at[1] == 0) {
            at += 1;
            break;
        }
        hash = (hash ^ at[1]) * FNV_PRIME;
        if (at[2] == 0) {
            at += 2;
            break;
        }
        hash = (hash ^ at[2]) * FNV_PRIME;
        if (at[3] == 0) {
            at += 3;
            break;
        }
        hash = (hash ^ at[3]) * FNV_PRIME;
    }
    key->name = name;
    key->length = (size_t)(at - (const uint8_t *)name);
    key->hash = hash;
}

/* Whether the processor loads words from anywhere by itself. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_UNALIGNED)
#define COMPARES_WORDS 1
typedef uint32_t UnalignedWord __attribute__((aligned(1), may_alias));
static inline uint32_t word(const char *at) {
    return *(const UnalignedWord *)at;
}
#else
#define COMPARES_WORDS 0
#endif

int aotc_crt_same_bytes(const char *a, const char *b, size_t length) {
#if COMPARES_WORDS
    for (; length >= 8; length -= 8, a += 8, b += 8) {
        if (word(a) != word(b) || word(a + 4) != word(b + 4)) {
            return 0;
        }
    }
    if (length >= 4) {
        /* The last word may overlap the first, so that no bytes are left over. */
        return word(a) == word(b) && word(a + length - 4) == word(b + length - 4);
    }
#endif
    for (; length > 0; --length) {
        if (*a++ != *b++) {
            return 0;
        }
    }
    return 1;
}

uint16_t TVMFuncRegistry_GetNumFuncs(const TVMFuncRegistry *reg) {
    return aotc_crt_count(reg);
}

/* The name behind this one. */
static const char *next_name(const char *name) {
    while (*name++ != '\0') {
    }
    return name;
}

static int same_name(const char *a, const char *b) {
    for (; *a == *b; ++a, ++b) {
        if (*a == '\0') {
            return 1;
        }
    }
    return 0;
}

int32_t aotc_crt_find_in_order(const TVMFuncRegistry *reg, const uint32_t *hashes,
                               const AotcCrtKey *key) {
    const size_t count = aotc_crt_count(reg);
    const char *name = reg->names + 2;
    size_t i;
    for (i = 0; i < count; ++i) {
        if (reg->offsets != NULL) {
            name = reg->names + reg->offsets[i];
        } else if (i > 0) {
            name = next_name(name);
        }
        if ((hashes == NULL || hashes[i] == key->hash) && same_name(name, key->name)) {
            return (int32_t)i;
        }
    }
    return -1;
}

tvm_crt_error_t TVMFuncRegistry_Lookup(const TVMFuncRegistry *reg, const char *name,
                                       tvm_function_index_t *function_index) {
    AotcCrtKey key;
    int32_t index;
    if (reg == NULL || name == NULL || function_index == NULL) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    aotc_crt_make_key(name, &key);
    index = aotc_crt_find_in_order(reg, reg->hashes, &key);
    if (index < 0) {
        return kTvmErrorFunctionNameNotFound;
    }
    *function_index = (tvm_function_index_t)index;
    return kTvmErrorNoError;
}

tvm_crt_error_t TVMFuncRegistry_GetByIndex(const TVMFuncRegistry *reg, tvm_function_index_t index,
                                           TVMBackendPackedCFunc *out_func) {
    if (reg == NULL || out_func == NULL) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    if (index >= aotc_crt_count(reg)) {
        return kTvmErrorFunctionIndexInvalid;
    }
    *out_func = reg->funcs[index];
    return kTvmErrorNoError;
}

const char *TVMFuncRegistry_GetName(const TVMFuncRegistry *reg, tvm_function_index_t index) {
    const char *name;
    if (reg == NULL || index >= aotc_crt_count(reg)) {
        return NULL;
    }
    name = reg->names + 2;
    while (index-- > 0) {
        name = next_name(name);
    }
    return name;
}
