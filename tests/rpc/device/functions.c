/* SPDX-License-Identifier: Apache-2.0 */
#include "functions.h"

uint32_t functions_counted;
uint64_t functions_clock;

#define PACKED(name)                                                                           \
    static int name(TVMValue *args, int *codes, int count, TVMValue *result, int *result_code, \
                    void *resource)
#define UNUSED()                                                                               \
    do {                                                                                       \
        (void)args, (void)codes, (void)count, (void)result, (void)result_code, (void)resource; \
    } while (0)

static int64_t elements(const DLTensor *tensor) {
    int64_t total = 1;
    int i;
    for (i = 0; i < tensor->ndim; ++i) {
        total *= tensor->shape[i];
    }
    return total;
}

/* c[i] = a[i] + b[0], as TVM's op_add. */
PACKED(add) {
    const DLTensor *const a = args[0].v_handle;
    const DLTensor *const b = args[1].v_handle;
    const DLTensor *const c = args[2].v_handle;
    int64_t i;
    UNUSED();
    for (i = 0; i < elements(a); ++i) {
        ((int8_t *)c->data)[i] = (int8_t)(((int8_t *)a->data)[i] + ((int8_t *)b->data)[0]);
    }
    return 0;
}

/* Returns how often it was executed. */
PACKED(count) {
    UNUSED();
    result->v_int64 = ++functions_counted;
    *result_code = kTVMArgInt;
    return 0;
}

/* Returns argument 0 plus argument 1 as a float. */
PACKED(mixed) {
    UNUSED();
    result->v_float64 = (double)args[0].v_int64 + args[1].v_float64;
    *result_code = kTVMArgFloat;
    return codes[0] == kTVMArgInt && codes[1] == kTVMArgFloat && codes[2] == kTVMNullptr ? 0 : 1;
}

PACKED(fail) {
    UNUSED();
    TVMAPISetLastError("the accelerator is on fire");
    return -7;
}

/* Takes as many ticks as argument 0 says. */
PACKED(spin) {
    UNUSED();
    functions_clock += (uint64_t)args[0].v_int64;
    return 0;
}

/* The same, but for longer every time. */
PACKED(creep) {
    static uint64_t length;
    UNUSED();
    length += 10u;
    functions_clock += length;
    return 0;
}

static const TVMBackendPackedCFunc functions[] = {add, count, mixed, fail, spin, creep, add};

static const TVMFuncRegistry registry = {
    "\007\000add\000count\000mixed\000fail\000spin\000creep\000"
    "a_function_with_a_name_that_is_so_long_that_it_is_longer_than_what_a_line_with_noise_takes_"
    "and_than_names_that_are_registered_at_run_time_may_be\000",
    functions, 0, 0};

static const TVMModule module = {&registry};

const TVMModule *TVMSystemLibEntryPoint(void);
const TVMModule *TVMSystemLibEntryPoint(void) {
    return &module;
}
