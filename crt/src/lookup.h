/*
 * The search of a function by its name, inlined in TVMFuncGetGlobal: a model in the registry
 * convention goes through it for every operator.
 */
#ifndef AOTC_CRT_SRC_LOOKUP_H_
#define AOTC_CRT_SRC_LOOKUP_H_

#include "internal.h"

#if defined(__GNUC__)
#define AOTC_CRT_INLINE static inline __attribute__((always_inline))
#else
#define AOTC_CRT_INLINE static inline
#endif

/* Whether the processor loads words from anywhere by itself. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_UNALIGNED)
#define AOTC_CRT_COMPARES_WORDS 1
typedef uint32_t AotcCrtUnalignedWord __attribute__((aligned(1), may_alias));
AOTC_CRT_INLINE uint32_t aotc_crt_word(const char *at) {
    return *(const AotcCrtUnalignedWord *)at;
}
#else
#define AOTC_CRT_COMPARES_WORDS 0
#endif

/* Two names of that length. */
AOTC_CRT_INLINE int aotc_crt_same_bytes(const char *a, const char *b, size_t length) {
#if AOTC_CRT_COMPARES_WORDS
    for (; length >= 8; length -= 8, a += 8, b += 8) {
        if (aotc_crt_word(a) != aotc_crt_word(b) || aotc_crt_word(a + 4) != aotc_crt_word(b + 4)) {
            return 0;
        }
    }
    if (length >= 4) {
        /* The last word may overlap the first, so that no bytes are left over. */
        return aotc_crt_word(a) == aotc_crt_word(b) &&
               aotc_crt_word(a + length - 4) == aotc_crt_word(b + length - 4);
    }
#endif
    for (; length > 0; --length) {
        if (*a++ != *b++) {
            return 0;
        }
    }
    return 1;
}

/* Whether the key's is the name at an index. */
AOTC_CRT_INLINE int aotc_crt_is_named(const TVMFuncRegistry *reg, size_t index,
                                      const AotcCrtKey *key) {
    const uint16_t *offset = reg->offsets;
    if (offset == NULL) {
        return aotc_crt_is_named_by_walk(reg, index, key);
    }
    offset += index;
    return (size_t)(offset[1] - offset[0]) == key->length + 1 &&
           aotc_crt_same_bytes(reg->names + offset[0], key->name, key->length);
}

/* The index of the function of that name, -1 if there is none. */
AOTC_CRT_INLINE int32_t aotc_crt_find(const TVMFuncRegistry *reg, const AotcCrtKey *key) {
    const size_t count = aotc_crt_count(reg);
    const uint32_t *hashes = reg->hashes;
    const uint32_t hash = key->hash;
    size_t i;
    if (hashes == NULL) {
        return aotc_crt_find_by_walk(reg, key);
    }
    /* Hashes are spread evenly, so this one's place in their range is nearly its index: a step or
     * two from there is less than halving from the ends. */
    i = (size_t)(((hash >> 16) * (uint32_t)count) >> 16);
    while (i > 0 && hashes[i - 1] >= hash) {
        --i;
    }
    for (; i < count && hashes[i] <= hash; ++i) {
        if (hashes[i] == hash && aotc_crt_is_named(reg, i, key)) {
            return (int32_t)i;
        }
    }
    return -1;
}

#endif /* AOTC_CRT_SRC_LOOKUP_H_ */
