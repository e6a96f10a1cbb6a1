/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every case and prints how many there were. */
#include <stdio.h>
#include <string.h>

#include "kernel_case.h"

enum { room = 256 * 1024, guard = 32 };

static union {
    uint8_t bytes[room];
    uint64_t align;
} memory[2];

/* Lays the case's buffers out from the memory's begin, a guard behind each; how much they take. */
static uint32_t lay_out(const struct kernel_case *c, uint8_t *at, uint8_t **buffers) {
    uint32_t used = 0;
    for (int i = 0; i < 4 && c->buffers[i].data; ++i) {
        uint32_t bytes = (c->buffers[i].bytes + 7u) & ~7u;
        if (used + bytes + guard > room) return 0;
        memset(at + used, 0xA5, bytes + guard);
        memcpy(at + used, c->buffers[i].data, c->buffers[i].bytes);
        buffers[i] = at + used + c->buffers[i].from;
        used += bytes + guard;
    }
    return used;
}

static int run(const struct kernel_case *c) {
    uint8_t *buffers[2][4] = {{0}};
    uint32_t used = lay_out(c, memory[0].bytes, buffers[0]);
    if (used == 0 || lay_out(c, memory[1].bytes, buffers[1]) != used) {
        printf("%s: does not fit\n", c->name);
        return 0;
    }
    c->assembly(buffers[0], c->scalars);
    c->portable(buffers[1], c->scalars);
    for (uint32_t i = 0; i < used; ++i)
        if (memory[0].bytes[i] != memory[1].bytes[i]) {
            printf("%s: byte %u is %u, not %u\n", c->name, (unsigned)i, memory[0].bytes[i],
                   memory[1].bytes[i]);
            return 0;
        }
    return 1;
}

int main(void) {
    int passed = 0;
    for (int32_t i = 0; i < kernel_case_count; ++i) passed += run(&kernel_cases[i]);
    printf("%d passed, %d failed\n", passed, (int)kernel_case_count - passed);
    return passed != kernel_case_count;
}
