// SPDX-License-Identifier: Apache-2.0
/* A second model written by hand: every type of element, several inputs, no arena at all. */
#ifndef MIX_H
#define MIX_H

#include <stdint.h>

#define MIX_ARENA_SIZE 0u
#define MIX_ARENA_ALIGN 64u
#define MIX_INPUT_COUNT 2
#define MIX_OUTPUT_COUNT 7
#define MIX_INPUT_IN_ARENA 0
#define MIX_OUTPUT_IN_ARENA 0
#define MIX_CALL_COUNT 1
#define MIX_FOR_EACH_INPUT(X)                                                                      \
    X(reals, float, 2, 0, 0)                                                                       \
    X(words, int16_t, 3, 1.0e-02f, 0)
#define MIX_FOR_EACH_OUTPUT(X)                                                                     \
    X(sum, float, 2, 0, 0)                                                                         \
    X(small, int16_t, 3, 1.0e-02f, 0)                                                              \
    X(plain, int32_t, 2, 0, 0)                                                                     \
    X(bytes, uint8_t, 2, 5.0e-01f, 128)                                                            \
    X(flags, _Bool, 2, 0, 0)                                                                       \
    X(wide, int64_t, 2, 0, 0)                                                                      \
    X(index, uint32_t, 1, 0, 0)

struct mix_inputs {
    const float *reals;
    const int16_t *words;
};
struct mix_outputs {
    float *sum;
    int16_t *small;
    int32_t *plain;
    uint8_t *bytes;
    _Bool *flags;
    int64_t *wide;
    uint32_t *index;
};

int32_t mix_run(const struct mix_inputs *inputs, const struct mix_outputs *outputs, void *arena);

#ifdef MIX_TRACE
void mix_trace(int32_t op, int32_t result, const void *data, uint32_t bytes);
#endif

#endif
