// SPDX-License-Identifier: Apache-2.0
/* A model written by hand in the form that the compiler emits, for testing boards and templates
 * without a compiler: 64 int8 inputs, two operators, one int8 and one float result. */
#ifndef TOY_H
#define TOY_H

#include <stdint.h>

#include "toy_variant.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TOY_ARENA_SIZE
#define TOY_ARENA_SIZE 64u
#endif
#define TOY_ARENA_ALIGN 16u
#define TOY_INPUT_COUNT 1
#define TOY_OUTPUT_COUNT 2
#define TOY_INPUT_IN_ARENA 0
#define TOY_OUTPUT_IN_ARENA 0
#define TOY_CALL_COUNT 2
#define TOY_FOR_EACH_INPUT(X) X(pixels, int8_t, 64, 5.0e-01f, -3)
#define TOY_FOR_EACH_OUTPUT(X)                                                                     \
    X(scores, int8_t, 10, 3.90625e-03f, -128)                                                      \
    X(level, float, 1, 0, 0)

struct toy_inputs {
    const int8_t *pixels;
};
struct toy_outputs {
    int8_t *scores;
    float *level;
};

int32_t toy_run(const struct toy_inputs *inputs, const struct toy_outputs *outputs, void *arena);

#ifdef TOY_TRACE
void toy_trace(int32_t op, int32_t result, const void *data, uint32_t bytes);
#endif

#ifdef __cplusplus
}
#endif

#endif
