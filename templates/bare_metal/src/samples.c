/* SPDX-License-Identifier: 0BSD */
/* The inputs that the demo runs, the names of the classes (labels end with a null), and what the
 * reference computed for the first input: of each result of a layer a checksum. */
#include <string.h>

#include "harness.h"

const uint32_t sample_count = @sample_count@u;

const uint8_t sample_bytes[] = {
    @sample_bytes@
};

const uint32_t sample_bytes_size = (uint32_t)sizeof sample_bytes;

#ifdef @macro_prefix@_CONSTANT_POOL
#include "@prefix@_constants.h"
const uint8_t constants_of_model[] __attribute__((aligned(ARENA_ALIGN_OF_MODEL))) = {
    @macro_prefix@_CONSTANT_POOL_DATA
};
#endif

const char *const labels[] = {@labels@ 0};

struct check {
    int16_t call;
    int16_t result;
    uint32_t bytes;
    uint32_t checksum; /* FNV-1a over the bytes, little endian */
    float sum;         /* of floats instead: with weights 1, 2, ... 7, 1, ... */
    float tolerance;   /* of the sum; 0: the checksum of floats counts, negative: of the bytes */
};

#define CHECK_COUNT @check_count@u
/* Two more than there are: compilers that know of an end at 0 look at the one behind it. */
static const struct check checks[CHECK_COUNT + 2u] = {
@layer_checks@
    {-1, 0, 0u, 0u, 0.0f, 0.0f}, {-1, 0, 0u, 0u, 0.0f, 0.0f}
};
const uint32_t self_test_count = CHECK_COUNT;

/* Each ends with a null; in the order of the calls. */
static const char layer_names[] =
@layer_names@;

const char *layer_name(int32_t layer)
{
    const char *at = layer_names;
    for (; layer > 0; --layer) { at += strlen(at) + 1u; }
    return at;
}

/* A float's bits, but 0 has no sign and NaN one form. */
static uint32_t bits_of(const uint8_t *data)
{
    uint32_t bits;
    memcpy(&bits, data, sizeof bits);
    if ((bits & 0x7FFFFFFFu) == 0u) { return 0u; }
    return (bits & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC00000u : bits;
}

static int as_expected(const struct check *expected, const uint8_t *data, uint32_t bytes)
{
    uint32_t hash = 0x811C9DC5u;
    uint32_t i;
    float sum = 0.0f;
    float lost = 0.0f;
    if (bytes != expected->bytes) { return 0; }
    if (!(expected->tolerance > 0.0f)) {
        for (i = 0; i < bytes; ++i) {
            const uint32_t byte = expected->tolerance < 0.0f
                                      ? data[i]
                                      : (bits_of(data + (i & ~3u)) >> (i % 4u * 8u)) & 0xFFu;
            hash = (hash ^ byte) * 0x01000193u;
        }
        return hash == expected->checksum;
    }
    /* What each sum loses goes into the next. */
    for (i = 0; i < bytes / 4u; ++i) {
        float value;
        float next;
        memcpy(&value, data + i * 4u, sizeof value);
        value = value * (float)(i % 7u + 1u) - lost;
        next = sum + value;
        lost = (next - sum) - value;
        sum = next;
    }
    return sum - expected->sum <= expected->tolerance && expected->sum - sum <= expected->tolerance;
}

void self_test_result(struct self_test *test, int32_t call, int32_t result, const void *data,
                      uint32_t bytes)
{
    /* What a loop calls is there once for every turn: the first that has not been seen is meant. */
    static uint8_t seen[sizeof checks / sizeof *checks];
    const struct check *expected = checks;
    if (test->compared == 0u) { memset(seen, 0, sizeof seen); }
    while (expected->call >= 0 &&
           (expected->call != call || expected->result != result || seen[expected - checks] != 0u)) {
        ++expected;
    }
    if (expected->call < 0) { return; }
    seen[expected - checks] = 1u;
    ++test->compared;
    if (!as_expected(expected, (const uint8_t *)data, bytes)) {
        if (test->first_difference < 0 || call < test->first_difference) {
            test->first_difference = call;
        }
    } else if (!(expected->tolerance > 0.0f)) {
        ++test->exact;
    }
}
