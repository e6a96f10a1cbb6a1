/* SPDX-License-Identifier: 0BSD */
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

/* The index of the function of that name, -1 if there is none. */
AOTC_CRT_INLINE int32_t aotc_crt_find(const TVMFuncRegistry *reg, const AotcCrtKey *key) {
    const size_t count = aotc_crt_count(reg);
    const uint32_t *hashes = reg->hashes;
    const uint32_t hash = key->hash;
    const uint16_t *offset;
    size_t i;
    if (hashes == NULL || reg->offsets == NULL) {
        return aotc_crt_find_in_order(reg, hashes, key);
    }
    /* Hashes are spread evenly, so this one's place in their range is nearly its index: a step or
     * two from there is less than halving from the ends. */
    i = (size_t)(((hash >> 16) * (uint32_t)count) >> 16);
    while (i > 0 && hashes[i - 1] >= hash) {
        --i;
    }
    for (; i < count && hashes[i] <= hash; ++i) {
        offset = &reg->offsets[i];
        if (hashes[i] == hash && (size_t)(offset[1] - offset[0]) == key->length + 1 &&
            aotc_crt_same_bytes(reg->names + offset[0], key->name, key->length)) {
            return (int32_t)i;
        }
    }
    return -1;
}

#endif /* AOTC_CRT_SRC_LOOKUP_H_ */
