/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What calls by name cost: prints the instructions of one TVMFuncGetGlobal with TVMFuncCall, on
 * average and at most over the functions of a system library, beyond a direct call of the same
 * function. For QEMU with -icount shift=0, where a nanosecond is an instruction.
 *
 * The system library comes from another file, which has library_count and library_names.
 */
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/module.h>

#include "board_io.h"

#define SYSTICK_CONTROL (*(volatile uint32_t *)0xe000e010u)
#define SYSTICK_RELOAD (*(volatile uint32_t *)0xe000e014u)
#define SYSTICK_VALUE (*(volatile uint32_t *)0xe000e018u)
#define SYSTICK_TOP 0xffffffu
/* SysTick of the board runs at 25 MHz. */
#define INSTRUCTIONS_PER_TICK 40u
#define ROUNDS 400u

extern const uint32_t library_count;
extern const char *const library_names[];

static TVMValue args[3];
static int type_codes[3];

static uint32_t ticks_since(uint32_t begin) {
    return (begin - SYSTICK_VALUE) & SYSTICK_TOP;
}

/* Instructions of ROUNDS calls by name. */
static uint32_t by_name(const char *name) {
    uint32_t i;
    const uint32_t begin = SYSTICK_VALUE;
    for (i = 0; i < ROUNDS; ++i) {
        TVMFunctionHandle function;
        TVMValue result;
        int result_code;
        if (TVMFuncGetGlobal(name, &function) != 0 ||
            TVMFuncCall(function, args, type_codes, 3, &result, &result_code) != 0) {
            exit_board(2);
        }
    }
    return ticks_since(begin) * INSTRUCTIONS_PER_TICK;
}

static uint32_t direct(volatile TVMBackendPackedCFunc function) {
    uint32_t i;
    const uint32_t begin = SYSTICK_VALUE;
    for (i = 0; i < ROUNDS; ++i) {
        TVMValue result;
        int result_code;
        if (function(args, type_codes, 3, &result, &result_code, NULL) != 0) {
            exit_board(3);
        }
    }
    return ticks_since(begin) * INSTRUCTIONS_PER_TICK;
}

static void reset(void) {
    const TVMFuncRegistry *registry = TVMSystemLibEntryPoint()->registry;
    uint32_t i;
    uint32_t most = 0;
    uint32_t sum = 0;
    TVMFunctionHandle unknown;
    SYSTICK_RELOAD = SYSTICK_TOP;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 5u;
    for (i = 0; i < library_count; ++i) {
        const uint32_t plain = direct(registry->funcs[i]);
        const uint32_t named = by_name(library_names[i]);
        const uint32_t more = (named - plain) / ROUNDS;
        if (named < plain) {
            exit_board(4);
        }
        sum += more;
        if (more > most) {
            most = more;
        }
    }
    if (TVMFuncGetGlobal("no_such_function_here", &unknown) == 0) {
        exit_board(5);
    }
    print_number("functions", library_count);
    print_number("average", sum / library_count);
    print_number("most", most);
    exit_board(0);
}

/* Top of the RAM, entry. */
extern const uintptr_t vectors[];
__attribute__((section(".vectors"), used))
const uintptr_t vectors[2] = {0x20004000u, (uintptr_t)reset};
