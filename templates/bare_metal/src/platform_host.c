/* SPDX-License-Identifier: 0BSD */
/* The platform of the machine that builds the project: files and console of the C library, a
 * clock in nanoseconds (good for comparing, not exact), and the stack of a thread of its own. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WITHOUT_INIT_OF_MODEL
#include "harness.h"

#define STACK_BYTES (1u << 20)
#define STACK_PAINT 0xC5u

const uint32_t platform_empty_run_length = 0;

static uint64_t clock_start;
static uint8_t painted_stack[STACK_BYTES] __attribute__((aligned(4096)));

void platform_console_write(const char *text, uint32_t length)
{
    (void)fwrite(text, 1, length, stdout);
}

intptr_t platform_open(const char *path, int mode)
{
    FILE *file = fopen(path, mode == PLATFORM_WRITE ? "wb" : "rb");
    return file != 0 ? (intptr_t)file : -1;
}

int platform_read(intptr_t file, void *data, uint32_t bytes)
{
    return fread(data, 1, bytes, (FILE *)file) == bytes ? 0 : -1;
}

int platform_write(intptr_t file, const void *data, uint32_t bytes)
{
    return fwrite(data, 1, bytes, (FILE *)file) == bytes ? 0 : -1;
}

int platform_close(intptr_t file)
{
    return fclose((FILE *)file);
}

static uint64_t nanoseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void platform_clock_restart(void)
{
    clock_start = nanoseconds();
}

uint64_t platform_clock_elapsed(void)
{
    return nanoseconds() - clock_start;
}

uint64_t platform_clock_now(void)
{
    return nanoseconds();
}

const char *platform_clock_unit(void)
{
    return "nanoseconds";
}

const char *platform_board(void)
{
    return "host";
}

uint64_t platform_clock_hz(const char **trouble)
{
    *trouble = 0;
    return 0u;
}

__attribute__((noinline)) int32_t platform_empty_run(const inputs_of_model *inputs,
                                                     const outputs_of_model *outputs, void *arena)
{
    (void)inputs;
    (void)outputs;
    (void)arena;
    return 0;
}

struct call {
    run_function_of_model run;
    const inputs_of_model *inputs;
    const outputs_of_model *outputs;
    void *arena;
    int32_t status;
    uint32_t used;
};

/* The stack is painted in here, below this function's own frame, because starting a thread
 * leaves its own marks further down. */
static __attribute__((noinline)) void *run_call(void *argument)
{
    struct call *call = argument;
    volatile uint8_t *const frame = __builtin_frame_address(0);
    /* The frame itself may reach this far below its address. */
    volatile uint8_t *const top = frame - 256;
    volatile uint8_t *at;
    for (at = painted_stack; at < top; ++at) { *at = STACK_PAINT; }
    call->status = call->run(call->inputs, call->outputs, call->arena);
    for (at = painted_stack; at < top && *at == STACK_PAINT; ++at) {}
    call->used = at < top ? (uint32_t)(frame - at) : 0u;
    return 0;
}

uint32_t platform_stack_of(run_function_of_model run, const inputs_of_model *inputs,
                           const outputs_of_model *outputs, void *arena, int32_t *status)
{
    struct call call = {run, inputs, outputs, arena, -1, 0};
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstack(&attributes, painted_stack, sizeof painted_stack) != 0 ||
        pthread_create(&thread, &attributes, run_call, &call) != 0) {
        (void)fputs("cannot start a thread to measure the stack\n", stderr);
        *status = -1;
        return 0;
    }
    (void)pthread_join(thread, 0);
    (void)pthread_attr_destroy(&attributes);
    *status = call.status;
    return call.used;
}

int main(int argc, char **argv)
{
    const int code = harness_main(argc, argv);
    return fflush(stdout) == 0 ? code : 1;
}
