#include <tvm/runtime/crt/func_registry.h>

#include "internal.h"

#define FNV_OFFSET_BASIS UINT32_C(0x811c9dc5)
#define FNV_PRIME UINT32_C(0x01000193)

/* Words that may lie anywhere, where the processor loads such words by itself. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_UNALIGNED)
#define COMPARES_WORDS 1
typedef uint32_t UnalignedWord __attribute__((aligned(1), may_alias));
#else
#define COMPARES_WORDS 0
#endif

void aotc_crt_make_key(const char *name, AotcCrtKey *key) {
    const char *end = name;
    uint32_t hash = FNV_OFFSET_BASIS;
    unsigned char byte;
    while ((byte = (unsigned char)*end) != 0) {
        hash = (hash ^ byte) * FNV_PRIME;
        ++end;
    }
    key->name = name;
    key->length = (size_t)(end - name);
    key->hash = hash;
}

uint16_t TVMFuncRegistry_GetNumFuncs(const TVMFuncRegistry *reg) {
    uint16_t count;
    unsigned char *bytes = (unsigned char *)&count;
    bytes[0] = (unsigned char)reg->names[0];
    bytes[1] = (unsigned char)reg->names[1];
    return count;
}

/* The name behind this one. */
static const char *next_name(const char *name) {
    while (*name++ != '\0') {
    }
    return name;
}

static const char *name_at(const char *names, const uint16_t *offsets, size_t index) {
    const char *name = names + 2;
    if (offsets != NULL) {
        return names + offsets[index];
    }
    for (; index > 0; --index) {
        name = next_name(name);
    }
    return name;
}

static int same_bytes(const char *a, const char *b, size_t length) {
#if COMPARES_WORDS
    for (; length >= 4; length -= 4) {
        if (*(const UnalignedWord *)a != *(const UnalignedWord *)b) {
            return 0;
        }
        a += 4;
        b += 4;
    }
#endif
    for (; length > 0; --length) {
        if (*a++ != *b++) {
            return 0;
        }
    }
    return 1;
}

static int same_name(const char *a, const char *b) {
    for (; *a == *b; ++a, ++b) {
        if (*a == '\0') {
            return 1;
        }
    }
    return 0;
}

/* Whether the key's is the name at an index. */
static int is_named(const char *names, const uint16_t *offsets, size_t index,
                    const AotcCrtKey *key) {
    if (offsets == NULL) {
        return same_name(name_at(names, NULL, index), key->name);
    }
    return (size_t)(offsets[index + 1] - offsets[index]) == key->length + 1 &&
           same_bytes(names + offsets[index], key->name, key->length);
}

static int find_by_walk(const TVMFuncRegistry *reg, size_t count, const AotcCrtKey *key,
                        tvm_function_index_t *index) {
    const char *name = reg->names + 2;
    size_t i;
    for (i = 0; i < count; ++i) {
        if (same_name(name, key->name)) {
            *index = (tvm_function_index_t)i;
            return 1;
        }
        name = next_name(name);
    }
    return 0;
}

int aotc_crt_find(const TVMFuncRegistry *reg, const AotcCrtKey *key, tvm_function_index_t *index) {
    const size_t count = TVMFuncRegistry_GetNumFuncs(reg);
    const uint32_t *hashes = reg->hashes;
    const uint32_t hash = key->hash;
    size_t i;
    if (hashes == NULL) {
        return find_by_walk(reg, count, key, index);
    }
    /* Hashes are spread evenly, so this one's place in their range is nearly its index: a step or
     * two from there is less than halving from the ends. */
    i = (size_t)(((hash >> 16) * (uint32_t)count) >> 16);
    while (i > 0 && hashes[i - 1] >= hash) {
        --i;
    }
    for (; i < count && hashes[i] <= hash; ++i) {
        if (hashes[i] == hash && is_named(reg->names, reg->offsets, i, key)) {
            *index = (tvm_function_index_t)i;
            return 1;
        }
    }
    return 0;
}

int aotc_crt_find_mutable(const TVMMutableFuncRegistry *reg, const AotcCrtKey *key,
                          tvm_function_index_t *index) {
    const size_t count = TVMFuncRegistry_GetNumFuncs(&reg->registry);
    size_t i;
    for (i = 0; i < count; ++i) {
        if (reg->hashes[i] == key->hash && is_named(reg->names, reg->offsets, i, key)) {
            *index = (tvm_function_index_t)i;
            return 1;
        }
    }
    return 0;
}

tvm_crt_error_t TVMFuncRegistry_Lookup(const TVMFuncRegistry *reg, const char *name,
                                       tvm_function_index_t *function_index) {
    AotcCrtKey key;
    if (reg == NULL || name == NULL || function_index == NULL) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    aotc_crt_make_key(name, &key);
    return aotc_crt_find(reg, &key, function_index) ? kTvmErrorNoError
                                                    : kTvmErrorFunctionNameNotFound;
}

tvm_crt_error_t TVMFuncRegistry_GetByIndex(const TVMFuncRegistry *reg, tvm_function_index_t index,
                                           TVMBackendPackedCFunc *out_func) {
    if (reg == NULL || out_func == NULL) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    if (index >= TVMFuncRegistry_GetNumFuncs(reg)) {
        return kTvmErrorFunctionIndexInvalid;
    }
    *out_func = reg->funcs[index];
    return kTvmErrorNoError;
}

const char *TVMFuncRegistry_GetName(const TVMFuncRegistry *reg, tvm_function_index_t index) {
    if (reg == NULL || index >= TVMFuncRegistry_GetNumFuncs(reg)) {
        return NULL;
    }
    return name_at(reg->names, reg->offsets, index);
}
