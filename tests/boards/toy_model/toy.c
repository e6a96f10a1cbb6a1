/* SPDX-License-Identifier: Apache-2.0 */
/* The tests write variants into toy_variant.h:
 *   TOY_OVERRUN     writes one byte behind the arena
 *   TOY_UNDERRUN    writes one byte before it
 *   TOY_FAIL        the second operator fails with status -7
 *   TOY_FAULT       executes an instruction that does not exist
 *   TOY_LIBRARY     depends on initialised data, on errno and on a function that may set it
 *   TOY_ARENA_SIZE  another size of the arena
 *   TOY_LOOPS=n     toy_run is 2 * n + 3 + TOY_NOPS instructions of assembly; 4096 divides n */
#include "toy.h"

extern const int8_t toy_bias[64];

#ifdef TOY_LOOPS

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
/* Clang takes no statement but assembly in a naked function. */
#define UNUSED __attribute__((unused))

int32_t toy_run(const struct toy_inputs *inputs, const struct toy_outputs *outputs, void *arena)
    __attribute__((naked));
int32_t toy_run(UNUSED const struct toy_inputs *inputs, UNUSED const struct toy_outputs *outputs,
                UNUSED void *arena)
{
#if defined(__riscv)
    __asm__ volatile("lui t0, " TEXT(TOY_LOOPS) " >> 12\n"
                     "1: addi t0, t0, -1\n"
                     "bnez t0, 1b\n"
                     ".rept " TEXT(TOY_NOPS) "\n"
                     "nop\n"
                     ".endr\n"
                     "li a0, 0\n"
                     "ret\n");
#else
    __asm__ volatile(".syntax unified\n"
                     "ldr r0, 2f\n"
                     "1: subs r0, r0, #1\n"
                     "bne 1b\n"
                     ".rept " TEXT(TOY_NOPS) "\n"
                     "nop\n"
                     ".endr\n"
                     "movs r0, #0\n"
                     "bx lr\n"
                     ".balign 4\n"
                     "2: .word " TEXT(TOY_LOOPS) "\n");
#endif
}

#else

static int32_t op0_scale(const int8_t *in, int8_t *out)
{
    int32_t i;
    for (i = 0; i < 64; ++i) {
        int32_t value = (int32_t)in[i] * 3 / 2 + (int32_t)toy_bias[i];
        value = value < -128 ? -128 : value > 127 ? 127 : value;
        out[i] = (int8_t)value;
    }
#ifdef TOY_OVERRUN
    ((volatile int8_t *)out)[64] = 1;
#endif
#ifdef TOY_UNDERRUN
    ((volatile int8_t *)out)[-1] = 1;
#endif
#ifdef TOY_FAULT
#if defined(__riscv)
    __asm__ volatile("unimp");
#else
    __asm__ volatile("udf #0");
#endif
#endif
    return 0;
}

#ifdef TOY_LIBRARY
#include <errno.h>
#include <math.h>

static volatile int32_t initialised = 1234567;
static volatile float too_large = 1000.0f;

static int32_t check_library(void)
{
    errno = EDOM;
    if (initialised != 1234567) { return -1; }
    if (!(expf(too_large) > 3e38f)) { return -2; }
    if (errno != EDOM && errno != ERANGE) { return -3; }
    return expf(too_large - 1000.0f) == 1.0f ? 0 : -4;
}
#endif

/* The scratch memory is on the stack to give the stack measurement something to find. */
static int32_t op1_score(const int8_t *in, int8_t *scores, float *level)
{
    volatile int32_t scratch[128];
    int32_t sum = 0;
    int32_t i;
#ifdef TOY_FAIL
    return -7;
#endif
    for (i = 0; i < 128; ++i) { scratch[i] = in[i % 64] * (i + 1); }
    for (i = 0; i < 10; ++i) {
        const int32_t value = (scratch[i * 7] + scratch[127 - i * 5]) / 64;
        scores[i] = (int8_t)(value < -128 ? -128 : value > 127 ? 127 : value);
        sum += value;
    }
    level[0] = (float)sum * 0.37f;
    return 0;
}

int32_t toy_run(const struct toy_inputs *inputs, const struct toy_outputs *outputs, void *arena)
{
    int8_t *const scaled = (int8_t *)arena;
    int32_t status;
    status = op0_scale(inputs->pixels, scaled);
    if (status != 0) { return status; }
#ifdef TOY_TRACE
    toy_trace(0, 0, scaled, 64u);
#endif
#ifdef TOY_LIBRARY
    status = check_library();
    if (status != 0) { return status; }
#endif
    status = op1_score(scaled, outputs->scores, outputs->level);
    if (status != 0) { return status; }
#ifdef TOY_TRACE
    toy_trace(1, 0, outputs->scores, 10u);
    toy_trace(1, 1, outputs->level, 4u);
#endif
    return 0;
}

#endif
