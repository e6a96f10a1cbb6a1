// SPDX-License-Identifier: Apache-2.0
/* A model for two devices, written by hand in the form that the compiler emits: an add on the host
 * and one on `acc`, their results cross, a subtract on either. TRANSFER_ASYNC=1 makes it run both
 * sides at once. */
#ifndef TRANSFER_H
#define TRANSFER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRANSFER_ELEMENTS 256
#define TRANSFER_ARENA_SIZE (4u * 4u * TRANSFER_ELEMENTS)
#define TRANSFER_ARENA_ALIGN 16u
#define TRANSFER_INPUT_COUNT 4
#define TRANSFER_OUTPUT_COUNT 2
#define TRANSFER_INPUT_IN_ARENA 0
#define TRANSFER_OUTPUT_IN_ARENA 0
#define TRANSFER_CALL_COUNT 6
#define TRANSFER_DEVICE_COUNT 1
#define TRANSFER_FOR_EACH_INPUT(X)                                                                 \
    X(a, int32_t, TRANSFER_ELEMENTS, 0, 0)                                                         \
    X(b, int32_t, TRANSFER_ELEMENTS, 0, 0)                                                         \
    X(c, int32_t, TRANSFER_ELEMENTS, 0, 0)                                                         \
    X(d, int32_t, TRANSFER_ELEMENTS, 0, 0)
#define TRANSFER_FOR_EACH_OUTPUT(X)                                                                \
    X(left, int32_t, TRANSFER_ELEMENTS, 0, 0)                                                      \
    X(right, int32_t, TRANSFER_ELEMENTS, 0, 0)
#define TRANSFER_FOR_EACH_DEVICE(X) X(acc)

struct transfer_inputs {
    const int32_t *a, *b, *c, *d;
};
struct transfer_outputs {
    int32_t *left, *right;
};
struct transfer_devices {
    void *acc;
};

int32_t transfer_run(const struct transfer_inputs *inputs, const struct transfer_outputs *outputs,
                     void *arena, const struct transfer_devices *devices);

#ifdef TRANSFER_TRACE
void transfer_trace(int32_t op, int32_t result, const void *data, uint32_t bytes);
#endif

#ifdef __cplusplus
}
#endif

#endif
