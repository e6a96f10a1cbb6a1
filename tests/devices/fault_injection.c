/* SPDX-License-Identifier: Apache-2.0 */
/* Fails every call of every hook of a model with devices, one at a time and in pairs, and checks
 * what the run leaves behind. Works with any model: MODEL_HEADER is its header, PREFIX and
 * MACRO_PREFIX its names, FAULTY_DEVICES(X) its devices in the order of the struct.
 * Outputs must be those of the first run. With FAULTY_SLICES runs are done slice by slice. */
#include <stdio.h>
#include <string.h>

#include "faulty_hooks.h"

#include MODEL_HEADER

#define PASTE_EXPANDED(a, b) a##b
#define PASTE(a, b) PASTE_EXPANDED(a, b)
#define M(name) PASTE(MACRO_PREFIX, name)
#define P(name) PASTE(PREFIX, name)

#define COUNT_DEVICE(Name) +1
#define DEVICES (0 FAULTY_DEVICES(COUNT_DEVICE))

#if !M(_INPUT_IN_ARENA)
#define DECLARE_INPUT(field, c_type, count, scale, zero_point) c_type field[count];
#define POINT_TO_INPUT(field, c_type, count, scale, zero_point) .field = input_data.field,
static struct { M(_FOR_EACH_INPUT)(DECLARE_INPUT) } input_data;
static const struct P(_inputs) inputs = {M(_FOR_EACH_INPUT)(POINT_TO_INPUT)};
#define INPUT_PLACE(field) input_data.field
#else
static const struct P(_inputs) inputs;
#define INPUT_PLACE(field) P(_input_##field)(arena)
#endif

#define DECLARE_OUTPUT(field, c_type, count, scale, zero_point) c_type field[count];
#define POINT_TO_OUTPUT(field, c_type, count, scale, zero_point) .field = output_data.field,
static struct { M(_FOR_EACH_OUTPUT)(DECLARE_OUTPUT) } output_data;
static const struct P(_outputs) outputs = {M(_FOR_EACH_OUTPUT)(POINT_TO_OUTPUT)};

static unsigned char arena[M(_ARENA_SIZE) + 1] __attribute__((aligned(M(_ARENA_ALIGN))));

static struct P(_devices) devices;

static unsigned char expected[sizeof output_data];
static unsigned failures, runs;

static void fill(void *data, size_t bytes, unsigned *noise)
{
    unsigned char *at = data;
    while (bytes-- != 0u) {
        *noise = *noise * 1664525u + 1013904223u;
        *at++ = (unsigned char)(*noise >> 24);
    }
}

#define FILL_INPUT(field, c_type, count, scale, zero_point)                                        \
    fill(INPUT_PLACE(field), (count) * sizeof(c_type), &noise);

#ifndef FAULTY_SLICES
static int32_t run_model(void)
{
    return P(_run)(&inputs, &outputs, arena, &devices);
}
#else
static int32_t run_model(void)
{
    static struct P(_context) context;
    int32_t status = P(_begin)(&context, &inputs, &outputs, arena, &devices);
    if (status != 0) { return status; }
    do {
        status = P(_step)(&context);
    } while (status == M(_MORE));
    /* What comes behind the end changes nothing: the hooks would see it. */
    if (P(_step)(&context) != status) { return INT32_MIN + 1; }
    if (status == M(_DONE)) { return 0; }
    return status < 0 ? context.status : INT32_MIN + 2;
}
#endif

static int32_t run_once(void)
{
    unsigned noise = 1u;
    (void)memset(arena, 0xA5, sizeof arena);
    (void)memset(&output_data, 0, sizeof output_data);
    M(_FOR_EACH_INPUT)(FILL_INPUT)
    ++runs;
    return run_model();
}

static void complain(const char *what, int32_t status, const struct faulty_fault *f, int count)
{
    int i;
    ++failures;
    (void)printf("FAIL: %s; the run returned %d", what, (int)status);
    for (i = 0; i < count; ++i) {
        (void)printf("; fault: device %d, call %u of %s, status %d", f[i].device, (unsigned)f[i].nth,
                     faulty_hook_names[f[i].hook], (int)f[i].status);
    }
    (void)printf("\n");
}

/* The run with these faults must return the status of the first and leave nothing open; one
 * without faults must then give what it gave before. */
static void try_faults(const struct faulty_fault *f, int count, int eager)
{
    const char *wrong;
    int32_t status;
    faulty_reset(f, count, eager);
    status = run_once();
    wrong = faulty_violation();
    if (wrong != 0) { complain(wrong, status, f, count); }
    if (status != (count != 0 ? f[0].status : 0)) { complain("not that status", status, f, count); }
    faulty_reset(0, 0, eager);
    status = run_once();
    wrong = faulty_violation();
    if (wrong != 0) { complain(wrong, status, 0, 0); }
    if (status != 0) { complain("the run after it fails", status, f, count); }
    if (memcmp(&output_data, expected, sizeof output_data) != 0) {
        complain("the run after it gives other outputs", status, f, count);
    }
}

/* Every call of every hook fails in turn; then also with all hooks that end things failing behind
 * it, whose statuses must not hide the first. */
static void try_every_call(uint32_t calls[FAULTY_MAX_DEVICES][FAULTY_HOOKS], int eager)
{
    static const int32_t statuses[] = {-1, 1, 77, INT32_MIN, INT32_MAX};
    unsigned tried = 0;
    int device, hook;
    uint32_t nth;
    for (device = 0; device < DEVICES; ++device) {
        for (hook = 0; hook < FAULTY_HOOKS; ++hook) {
            for (nth = 1; nth <= calls[device][hook]; ++nth) {
                struct faulty_fault f[3];
                f[0].device = device;
                f[0].hook = (enum faulty_hook)hook;
                f[0].nth = nth;
                f[0].status = statuses[tried++ % (sizeof statuses / sizeof statuses[0])];
                try_faults(f, 1, eager);
                if (hook == FAULTY_CLOSE || hook == FAULTY_DEACTIVATE) { continue; }
                f[1].device = device;
                f[1].hook = FAULTY_CLOSE;
                f[1].nth = 0;
                f[1].status = -1001;
                f[2] = f[1];
                f[2].hook = FAULTY_DEACTIVATE;
                f[2].status = -1002;
                try_faults(f, 3, eager);
            }
        }
    }
}

#define POINT_TO_DEVICE(field) devices.field = faulty_context(index++);

int main(void)
{
    uint32_t calls[FAULTY_MAX_DEVICES][FAULTY_HOOKS];
    int eager, device, hook;
    int index = 0;
    M(_FOR_EACH_DEVICE)(POINT_TO_DEVICE)
    for (eager = 0; eager < 2; ++eager) {
        const char *wrong;
        int32_t status;
        faulty_reset(0, 0, eager);
        status = run_once();
        wrong = faulty_violation();
        if (status != 0 || wrong != 0) { complain(wrong ? wrong : "it fails", status, 0, 0); }
        if (!eager) { (void)memcpy(expected, &output_data, sizeof output_data); }
        if (memcmp(&output_data, expected, sizeof output_data) != 0) {
            complain("outputs are not the expected ones", status, 0, 0);
        }
        for (device = 0; device < DEVICES; ++device) {
            for (hook = 0; hook < FAULTY_HOOKS; ++hook) {
                calls[device][hook] = faulty_calls(device, (enum faulty_hook)hook);
                if (!eager && calls[device][hook] != 0u) {
                    (void)printf("device %d: %u calls of %s\n", device,
                                 (unsigned)calls[device][hook], faulty_hook_names[hook]);
                }
            }
        }
        try_every_call(calls, eager);
    }
    (void)printf("%u runs, %u failures\n", runs, failures);
    return failures != 0u || index != DEVICES;
}
