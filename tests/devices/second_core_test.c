/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware of tests/devices/test_second_core.py: stands where main.c is in a project for the AN521 and
 * drives second_core.c and its hooks. The first argument chooses a test; every result is a line
 * `@aotc key=value ...` that the script checks. */
#include <string.h>

#include "harness.h"
#include "second_core.h"

int32_t TVMDeviceAccActivate(void *context);
int32_t TVMDeviceAccOpen(void *context);
int32_t TVMDeviceAccClose(void *context);
int32_t TVMDeviceAccDeactivate(void *context);
int32_t TVMDeviceAccLaunch(void *context, TVMBackendPackedCFunc function, TVMValue *args,
                           int *type_codes, int num_args);
int32_t TVMDeviceAccSync(void *context);

static void say(const char *what, int64_t value)
{
    print_text("@aotc ");
    print_text(what);
    print_text("=");
    print_i64(value);
    print_text("\n");
}

/* --- Operators, as the packed convention has them --------------------------------------------- */

#define ELEMENTS 2048

struct packed {
    DLTensor tensors[3];
    TVMValue values[3];
    int codes[3];
    int64_t shape[1];
};

/* Three vectors of int32 as the arguments of a packed function. */
static void pack(struct packed *to, int32_t *left, int32_t *right, int32_t *out)
{
    int32_t *const data[3] = {left, right, out};
    int i;
    (void)memset(to, 0, sizeof *to);
    to->shape[0] = ELEMENTS;
    for (i = 0; i < 3; ++i) {
        to->tensors[i].data = data[i];
        to->tensors[i].ndim = 1;
        to->tensors[i].dtype.code = kDLInt;
        to->tensors[i].dtype.bits = 32;
        to->tensors[i].dtype.lanes = 1;
        to->tensors[i].shape = to->shape;
        to->values[i].v_handle = &to->tensors[i];
        to->codes[i] = kTVMDLTensorHandle;
    }
}

static int32_t *data_of(TVMValue *args, int i)
{
    return ((DLTensor *)args[i].v_handle)->data;
}

#define OPERATOR(name, expression)                                                                 \
    static int name(TVMValue *args, int *type_codes, int num_args, TVMValue *result,               \
                    int *result_code, void *resource)                                              \
    {                                                                                              \
        const int32_t *const x = data_of(args, 0);                                                 \
        const int32_t *const y = data_of(args, 1);                                                 \
        int32_t *const out = data_of(args, 2);                                                     \
        int i;                                                                                     \
        (void)result;                                                                              \
        (void)result_code;                                                                         \
        (void)resource;                                                                            \
        if (num_args != 3 || type_codes[0] != kTVMDLTensorHandle) { return -1; }                   \
        for (i = 0; i < ELEMENTS; ++i) { out[i] = (expression); }                                  \
        return 0;                                                                                  \
    }

OPERATOR(add, x[i] + y[i])
OPERATOR(subtract, x[i] - y[i])

static int call(TVMBackendPackedCFunc function, struct packed *p)
{
    TVMValue result;
    int code = kTVMNullptr;
    return function(p->values, p->codes, 3, &result, &code, 0);
}

static int32_t launch(TVMBackendPackedCFunc function, struct packed *p)
{
    return TVMDeviceAccLaunch(0, function, p->values, p->codes, 3);
}

static int32_t launch_and_sync(TVMBackendPackedCFunc function, struct packed *p)
{
    const int32_t status = launch(function, p);
    return status != 0 ? status : TVMDeviceAccSync(0);
}

/* --- Transfer graphs: the reference, and as emitted for two devices ---------------------------- */

static int32_t inputs[4][ELEMENTS];
static int32_t host_value[ELEMENTS], host_copy[ELEMENTS]; /* host_copy: of a value of the device */
static int32_t device_value[ELEMENTS], device_copy[ELEMENTS];
static int32_t outputs[2][ELEMENTS], expected[2][ELEMENTS];

static void copy(int32_t *to, const int32_t *from)
{
    (void)memcpy(to, from, ELEMENTS * sizeof *to);
}

/* add on the host, its result is copied, subtract on the device. */
static int32_t simplex(int asynchronous)
{
    struct packed adding, subtracting;
    int32_t status;
    pack(&adding, inputs[0], inputs[1], host_value);
    pack(&subtracting, device_copy, inputs[2], outputs[0]);
    status = call(add, &adding);
    if (status != 0) { return status; }
    copy(device_copy, host_value);
    if (!asynchronous) { return launch_and_sync(subtract, &subtracting); }
    status = launch(subtract, &subtracting);
    return status != 0 ? status : TVMDeviceAccSync(0);
}

/* An add on either side, both results cross, a subtract on either side. */
static int32_t duplex(int asynchronous)
{
    struct packed host_add, device_add, host_subtract, device_subtract;
    int32_t status;
    pack(&host_add, inputs[0], inputs[1], host_value);
    pack(&device_add, inputs[2], inputs[3], device_value);
    pack(&host_subtract, host_value, host_copy, outputs[0]);
    pack(&device_subtract, device_value, device_copy, outputs[1]);
    status = asynchronous ? launch(add, &device_add) : launch_and_sync(add, &device_add);
    if (status != 0) { return status; }
    status = call(add, &host_add);
    if (status != 0) { return status; }
    if (asynchronous && (status = TVMDeviceAccSync(0)) != 0) { return status; }
    copy(device_copy, host_value);
    copy(host_copy, device_value);
    status = asynchronous ? launch(subtract, &device_subtract)
                          : launch_and_sync(subtract, &device_subtract);
    if (status != 0) { return status; }
    status = call(subtract, &host_subtract);
    if (status != 0) { return status; }
    return asynchronous ? TVMDeviceAccSync(0) : 0;
}

static int32_t run_on_devices(int32_t (*graph)(int), int asynchronous)
{
    int32_t status = TVMDeviceAccActivate(0);
    int32_t closing;
    if (status != 0) { return status; }
    status = TVMDeviceAccOpen(0);
    if (status == 0) {
        status = graph(asynchronous);
        closing = TVMDeviceAccClose(0);
        status = status != 0 ? status : closing;
    }
    closing = TVMDeviceAccDeactivate(0);
    return status != 0 ? status : closing;
}

static void fill_inputs(void)
{
    uint32_t noise = 0x2545F491u;
    int i, k;
    for (k = 0; k < 4; ++k) {
        for (i = 0; i < ELEMENTS; ++i) {
            noise = noise * 1664525u + 1013904223u;
            inputs[k][i] = (int32_t)(noise >> 4) - (1 << 27);
        }
    }
}

static void expect(int is_duplex)
{
    int i;
    (void)memset(expected, 0, sizeof expected);
    for (i = 0; i < ELEMENTS; ++i) {
        const int32_t left = inputs[0][i] + inputs[1][i];
        const int32_t right = inputs[2][i] + inputs[3][i];
        expected[0][i] = is_duplex ? left - right : left - inputs[2][i];
        expected[1][i] = is_duplex ? right - left : 0;
    }
}

static int nothing(TVMValue *args, int *type_codes, int num_args, TVMValue *result,
                   int *result_code, void *resource)
{
    (void)args; (void)type_codes; (void)num_args; (void)result; (void)result_code; (void)resource;
    return 0;
}

/* Ticks of a launch and sync of nothing, in sixteenths. */
static uint32_t handover(void)
{
    const uint32_t begin = second_core_ticks();
    int i;
    for (i = 0; i < 16; ++i) {
        (void)second_core_launch(nothing, 0, 0, 0, 0);
        (void)second_core_sync();
    }
    return second_core_ticks() - begin;
}

static void test_transfer(void)
{
    int is_duplex, asynchronous;
    fill_inputs();
    say("start", second_core_start());
    say("handover_sixteenths", handover());
    for (is_duplex = 0; is_duplex < 2; ++is_duplex) {
        for (asynchronous = 0; asynchronous < 2; ++asynchronous) {
            struct second_core_figures f;
            uint32_t begin, ticks;
            int32_t status;
            expect(is_duplex);
            (void)memset(outputs, 0, sizeof outputs);
            (void)memset(device_copy, 0x55, sizeof device_copy);
            (void)memset(host_copy, 0x55, sizeof host_copy);
            second_core_clear_figures();
            begin = second_core_ticks();
            status = run_on_devices(is_duplex ? duplex : simplex, asynchronous);
            ticks = second_core_ticks() - begin;
            f = second_core_get_figures();
            print_text(is_duplex ? "@aotc graph=duplex" : "@aotc graph=simplex");
            print_pair("asynchronous", (uint32_t)asynchronous);
            print_pair("failed", status != 0);
            print_pair("equal", memcmp(outputs, expected, sizeof expected) == 0);
            print_pair("launches", f.launches);
            print_pair("ticks", ticks);
            print_pair("host", f.host);
            print_pair("device", f.device);
            print_pair("overlap", f.overlap);
            print_pair("disturbed", f.disturbed);
            print_text("\n");
        }
    }
}

/* --- What can go wrong ------------------------------------------------------------------------- */

static int fail_with(TVMValue *args, int *type_codes, int num_args, TVMValue *result,
                     int *result_code, void *resource)
{
    (void)type_codes; (void)num_args; (void)result; (void)result_code; (void)resource;
    return (int)args[0].v_int64;
}

static void test_status(void)
{
    TVMValue value;
    int code = kTVMArgInt;
    say("early_launch", second_core_launch(nothing, 0, 0, 0, 0));
    say("early_sync", second_core_sync());
    say("start", second_core_start());
    say("again", second_core_start());
    say("idle", second_core_sync());
    value.v_int64 = -7;
    say("launch", second_core_launch(fail_with, &value, &code, 1, 0));
    say("sync", second_core_sync());
    say("once", second_core_sync());
    /* A launch waits for the one before it, and does not start after a failure. */
    say("first", second_core_launch(fail_with, &value, &code, 1, 0));
    say("second", second_core_launch(nothing, 0, 0, 0, 0));
    say("after", second_core_sync());
    value.v_int64 = SECOND_CORE_FAULT; /* a status like any other if a function returns it */
    say("lookalike_launch", second_core_launch(fail_with, &value, &code, 1, 0));
    say("lookalike", second_core_sync());
    say("good_launch", second_core_launch(nothing, 0, 0, 0, 0));
    say("good", second_core_sync());
}

static int undefined(TVMValue *args, int *type_codes, int num_args, TVMValue *result,
                     int *result_code, void *resource)
{
    (void)args; (void)type_codes; (void)num_args; (void)result; (void)result_code; (void)resource;
    __asm__ volatile("udf #0");
    return 0;
}

static volatile uint32_t depth_limit = 1000000u;

static __attribute__((noinline)) uint32_t deeper(uint32_t depth)
{
    volatile uint32_t here[16];
    here[depth % 16u] = depth;
    return depth == depth_limit ? 0u : deeper(depth + 1u) + here[depth % 16u];
}

static int overflow(TVMValue *args, int *type_codes, int num_args, TVMValue *result,
                    int *result_code, void *resource)
{
    (void)args; (void)type_codes; (void)num_args; (void)result; (void)result_code; (void)resource;
    return (int)(deeper(0) & 1u);
}

static void test_fault(TVMBackendPackedCFunc function)
{
    say("start", second_core_start());
    say("launch", second_core_launch(function, 0, 0, 0, 0));
    say("sync", second_core_sync());
    say("again", second_core_sync());
    say("refused", second_core_launch(nothing, 0, 0, 0, 0));
    say("open", TVMDeviceAccOpen(0));
}

static volatile uint32_t released;

static int hang(TVMValue *args, int *type_codes, int num_args, TVMValue *result, int *result_code,
                void *resource)
{
    (void)args; (void)type_codes; (void)num_args; (void)result; (void)result_code; (void)resource;
    while (!released) {}
    return -9;
}

/* Its answer comes after it was given up: not taken for the answer of what is launched next. */
static void test_hang(void)
{
    TVMValue value;
    int code = kTVMArgInt;
    value.v_int64 = -11;
    say("start", second_core_start());
    say("launch", second_core_launch(hang, 0, 0, 0, 0));
    say("sync", second_core_sync());
    say("refused", second_core_launch(nothing, 0, 0, 0, 0));
    say("open", TVMDeviceAccOpen(0));
    say("still", second_core_sync());
    released = 1u;
    say("back", second_core_sync());
    say("next", second_core_launch(fail_with, &value, &code, 1, 0));
    say("fresh", second_core_sync());
}

static volatile uint32_t counter;

static int count(TVMValue *args, int *type_codes, int num_args, TVMValue *result, int *result_code,
                 void *resource)
{
    uint32_t delay = (uint32_t)args[1].v_int64;
    (void)type_codes; (void)num_args; (void)result; (void)result_code; (void)resource;
    while (delay-- != 0u) { __asm__ volatile("nop"); }
    counter = counter + 1u;
    return (int)args[0].v_int64;
}

/* Many commands of all lengths around that of the hand-over: every answer is that of its command. */
static void test_soak(void)
{
    uint32_t noise = 12345u;
    uint32_t wrong = 0;
    uint32_t i;
    const uint32_t rounds = 20000u;
    (void)second_core_start();
    for (i = 0; i < rounds; ++i) {
        TVMValue values[2];
        int codes[2] = {kTVMArgInt, kTVMArgInt};
        uint32_t delay;
        noise = noise * 1664525u + 1013904223u;
        values[0].v_int64 = (int64_t)(i % 1000u);
        values[1].v_int64 = (int64_t)(noise >> 24);
        if (second_core_launch(count, values, codes, 2, 0) != 0) { ++wrong; }
        for (delay = (noise >> 16) & 0xFFu; delay != 0u; --delay) { __asm__ volatile("nop"); }
        if (second_core_sync() != (int32_t)(i % 1000u) || counter != i + 1u) { ++wrong; }
    }
    say("wrong", wrong);
    say("commands", counter);
}

int harness_main(int argc, char **argv)
{
    const char *const test = argc > 1 ? argv[1] : "";
    if (strcmp(test, "transfer") == 0) { test_transfer(); }
    if (strcmp(test, "status") == 0) { test_status(); }
    if (strcmp(test, "fault") == 0) { test_fault(undefined); }
    if (strcmp(test, "overflow") == 0) { test_fault(overflow); }
    if (strcmp(test, "hang") == 0) { test_hang(); }
    if (strcmp(test, "soak") == 0) { test_soak(); }
    say("end", 1);
    return 0;
}
