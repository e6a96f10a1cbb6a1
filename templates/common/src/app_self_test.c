/* SPDX-License-Identifier: 0BSD */
/* Proves that this build of the model '@prefix@' on this processor computes what the reference
 * computed on the desktop: layer by layer, for the first stored input. Tells the time of each layer
 * as well. The model is compiled a second time here, with its trace hook on, so that the copy that
 * the application runs costs nothing. */
#define @macro_prefix@_TRACE 1
#define @prefix@_run @prefix@_run_traced
#define @prefix@_begin @prefix@_begin_traced
#define @prefix@_step @prefix@_step_traced
#define @prefix@_row @prefix@_row_traced
#define @prefix@_feed @prefix@_feed_traced
#include "@prefix@_app.h"

#include <string.h>

#if defined(__AVR__)
#include <avr/pgmspace.h>
#define IN_FLASH PROGMEM
#define COPY_FROM_FLASH(to, from, bytes) memcpy_P(to, from, bytes)
#else
#define IN_FLASH
#define COPY_FROM_FLASH(to, from, bytes) memcpy(to, from, bytes)
#endif

/* Each ends with a null; in the order of the calls. */
static const char layer_names[] IN_FLASH =
@layer_names@;

void @prefix@_layer_name(int32_t layer, char *text, uint32_t size)
{
    size_t from = 0;
    uint32_t length = 0;
    char c = 0;
    for (; layer > 0 && from < sizeof layer_names; ++from) {
        (void)COPY_FROM_FLASH(&c, layer_names + from, 1);
        if (c == 0) { --layer; }
    }
    for (; size > 0u && length < size - 1u && from < sizeof layer_names; ++from) {
        (void)COPY_FROM_FLASH(&c, layer_names + from, 1);
        if (c == 0) { break; }
        text[length++] = c;
    }
    if (size > 0u) { text[length] = 0; }
}

#if @macro_prefix@_SELF_TEST

#include "@prefix@.c"

/* What the reference computed. */
struct check {
    int16_t call;
    int16_t result;
    uint32_t bytes;
    uint32_t checksum; /* FNV-1a over the bytes, little endian */
    float sum;         /* of floats instead: with weights 1, 2, ... 7, 1, ... */
    float tolerance;   /* of the sum; 0: the checksum of floats counts, negative: of the bytes */
};

#define CHECK_COUNT @check_count@
static const struct check checks[CHECK_COUNT + 1] IN_FLASH = {
@layer_checks@
    {-1, 0, 0, 0, 0.0f, 0.0f}
};

static struct {
    uint16_t next; /* of `checks` */
    struct @prefix@_self_test_result *result; /* 0: not testing */
    uint64_t *times;                          /* 0: not timing */
    uint64_t since;
} trace;

/* A float's bits, but 0 has no sign and NaN one form. */
static uint32_t bits_of(const uint8_t *data)
{
    uint32_t bits;
    memcpy(&bits, data, sizeof bits);
    if ((bits & 0x7FFFFFFFu) == 0u) { return 0u; }
    return (bits & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC00000u : bits;
}

static uint32_t checksum_of(const uint8_t *data, uint32_t bytes, int floats)
{
    uint32_t hash = 0x811C9DC5u;
    uint32_t i;
    for (i = 0; i < bytes; ++i) {
        const uint32_t byte =
            floats ? (bits_of(data + (i & ~(uint32_t)3u)) >> (i % 4u * 8u)) & 0xFFu : data[i];
        hash = ((hash ^ byte) * 0x01000193u) & 0xFFFFFFFFu;
    }
    return hash;
}

static float sum_of(const uint8_t *data, uint32_t bytes)
{
    float sum = 0.0f;
    float lost = 0.0f; /* what each sum loses goes into the next */
    uint32_t i;
    uint32_t weight = 1;
    for (i = 0; i + 4u <= bytes; i += 4u) {
        float value;
        float next;
        memcpy(&value, data + i, sizeof value);
        value = value * (float)weight - lost;
        next = sum + value;
        lost = (next - sum) - value;
        sum = next;
        weight = weight == 7u ? 1u : weight + 1u;
    }
    return sum;
}

static void compare(const void *data, uint32_t bytes)
{
    struct check expected;
    int same;
    (void)COPY_FROM_FLASH(&expected, &checks[trace.next], sizeof expected);
    ++trace.next;
    ++trace.result->layers;
    if (!(expected.tolerance > 0.0f)) {
        const int floats = !(expected.tolerance < 0.0f);
        same = bytes == expected.bytes &&
               checksum_of((const uint8_t *)data, bytes, floats) == expected.checksum;
        if (same) { ++trace.result->exact; }
    } else {
        const float difference = sum_of((const uint8_t *)data, bytes) - expected.sum;
        same = bytes == expected.bytes && difference <= expected.tolerance &&
               difference >= -expected.tolerance;
    }
    if (!same && trace.result->layer < 0) { trace.result->layer = expected.call; }
}

/* The clock is read first and once more last: what happens in between is nobody's time. */
void @prefix@_trace(int32_t op, int32_t result, const void *data, uint32_t bytes)
{
    if (trace.times != 0) {
        if (op >= 0 && op < @macro_prefix@_CALL_COUNT) {
            trace.times[op] += @prefix@_port_now() - trace.since;
        }
        trace.since = @prefix@_port_now();
    }
    if (trace.result != 0 && trace.next < CHECK_COUNT) {
        struct check expected;
        (void)COPY_FROM_FLASH(&expected, &checks[trace.next], sizeof expected);
        if (expected.call == op && expected.result == result) { compare(data, bytes); }
    }
}

#ifdef @macro_prefix@_STATE_SIZE
#define STATE , state
#define STATE_TYPE , void *state
#else
#define STATE
#define STATE_TYPE
#endif

/* As in a first run. */
int32_t @prefix@_app_run_by(int32_t (*run)(const struct @prefix@_inputs *,
                                           const struct @prefix@_outputs *,
                                           @prefix@_memory_type STATE_TYPE));

/* The copy, in slices if the model has them; by rows @prefix@_run does that. */
static int32_t run_traced(const struct @prefix@_inputs *inputs,
                          const struct @prefix@_outputs *outputs,
                          @prefix@_memory_type memory STATE_TYPE)
{
#if defined(@macro_prefix@_SLICE_COUNT) && !defined(@macro_prefix@_ROWS)
    static struct @prefix@_context context;
    int32_t status = @prefix@_begin_traced(&context, inputs, outputs, memory STATE);
    if (status != 0) { return status; }
    do { status = @prefix@_step_traced(&context); } while (status == @macro_prefix@_MORE);
    return status == @macro_prefix@_DONE ? 0 : status;
#else
    return @prefix@_run_traced(inputs, outputs, memory STATE);
#endif
}

int @prefix@_self_test(struct @prefix@_self_test_result *result)
{
    memset(result, 0, sizeof *result);
    result->layer = -1;
    memset(&trace, 0, sizeof trace);
    trace.result = result;
    @prefix@_load_sample(0);
    result->status = @prefix@_app_run_by(run_traced);
    trace.result = 0;
    return result->status == 0 && result->layer < 0 && result->layers == CHECK_COUNT ? 0 : -1;
}

int32_t @prefix@_profile(uint64_t *times)
{
    int32_t status;
    memset(&trace, 0, sizeof trace);
    memset(times, 0, @macro_prefix@_CALL_COUNT * sizeof *times);
    @prefix@_load_sample(0);
    trace.times = times;
    trace.since = @prefix@_port_now();
    status = @prefix@_app_run_by(run_traced);
    trace.times = 0;
    return status;
}

#else

int @prefix@_self_test(struct @prefix@_self_test_result *result)
{
    memset(result, 0, sizeof *result);
    result->layer = -1;
    return -1;
}

int32_t @prefix@_profile(uint64_t *times)
{
    memset(times, 0, @macro_prefix@_CALL_COUNT * sizeof *times);
    return 0;
}

#endif
