/* SPDX-License-Identifier: 0BSD */
/* Tests of the model '@prefix@' on this board: every layer of a stored input, the outputs of two runs, and, where
 * there are user threads, the same run by one of them. */
#include <zephyr/kernel.h>
#include <zephyr/ztest.h>

#include "@prefix@_app.h"
#include "@prefix@_zephyr.h"

#if defined(CONFIG_@macro_prefix@_MODEL_USER_MODE)
#define SHARED ZTEST_BMEM
#else
#define SHARED
#endif

/* Of the outputs of the first run. */
static SHARED uint32_t expected;

static uint32_t checksum(void)
{
    uint32_t sum = 2166136261u;
    uint32_t output, at;
    for (output = 0; output < @macro_prefix@_OUTPUT_COUNT; ++output) {
        const struct @prefix@_tensor tensor = @prefix@_app_output(output);
        for (at = 0; at < tensor.bytes; ++at) {
            sum = (sum ^ ((const uint8_t *)tensor.data)[at]) * 16777619u;
        }
    }
    return sum;
}

static void *prepare(void)
{
#if defined(CONFIG_@macro_prefix@_MODEL_USER_MODE)
    zassert_ok(k_mem_domain_add_partition(&k_mem_domain_default, &@prefix@_partition));
#endif
    @prefix@_app_reset();
    @prefix@_load_sample(0);
    zassert_ok(@prefix@_infer());
    expected = checksum();
    return NULL;
}

ZTEST(@prefix@, test_every_layer)
{
    struct @prefix@_self_test_result result;
    const int failed = @prefix@_self_test(&result);
    zassert_equal(failed, 0, "layer %d, status %d", (int)result.layer, (int)result.status);
}

/* With userspace this is a user thread: a write outside of the partition would end it. */
ZTEST_USER(@prefix@, test_run)
{
    @prefix@_app_reset();
    @prefix@_load_sample(0);
    zassert_ok(@prefix@_infer());
    zassert_equal(checksum(), expected);
#if defined(CONFIG_@macro_prefix@_MODEL_USER_MODE)
    zassert_true(k_is_user_context());
#endif
}

ZTEST_SUITE(@prefix@, NULL, prepare, NULL, NULL, NULL);
