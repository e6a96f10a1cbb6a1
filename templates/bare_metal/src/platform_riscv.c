/* SPDX-License-Identifier: 0BSD */
/* RISC-V in machine mode: start, traps, semihosting, and a clock that is the processor's own
 * count of retired instructions. */
#include "board.h"
#include "harness.h"

void platform_start(void) __attribute__((noreturn));
void platform_fault(uintptr_t where, uintptr_t cause);
intptr_t semihosting_call(uint32_t operation, const void *argument);
void clock_initialise(void);
void reset_entry(void);
void trap_entry(void);
void report_trap(void) __attribute__((noreturn));

/* The thread pointer serves C libraries that keep errno in thread-local storage. */
__attribute__((naked, used, noreturn, section(".vectors"))) void reset_entry(void)
{
    __asm__ volatile(".option push\n"
                     ".option norelax\n"
                     "la gp, __global_pointer$\n"
                     ".option pop\n"
                     "la sp, __stack_top\n"
                     "la tp, __tls_start\n"
                     "la t0, trap_entry\n"
                     "csrw mtvec, t0\n"
#if defined(__riscv_flen)
                     "li t0, 0x2000\n" /* mstatus.FS: floating point registers on, clean */
                     "csrs mstatus, t0\n"
#endif
#if defined(__riscv_vector)
                     "li t0, 0x200\n" /* mstatus.VS: vector registers on, initial */
                     "csrs mstatus, t0\n"
#endif
                     "j platform_start\n");
}

/* On a fresh stack, because a stack that has overflowed is a likely reason to be here. */
__attribute__((naked, used, aligned(4))) void trap_entry(void)
{
    __asm__ volatile("la sp, __stack_top\n"
                     "j report_trap\n");
}

__attribute__((used)) void report_trap(void)
{
    uintptr_t where;
    uintptr_t cause;
    __asm__ volatile("csrr %0, mepc" : "=r"(where));
    __asm__ volatile("csrr %0, mcause" : "=r"(cause));
    platform_fault(where, cause);
    for (;;) {}
}

/* Clang takes no statement but assembly in a naked function. */
#define UNUSED __attribute__((unused))

/* These three instructions, uncompressed and in a row, are the call. */
__attribute__((naked, noinline)) intptr_t semihosting_call(UNUSED uint32_t operation,
                                                           UNUSED const void *argument)
{
    __asm__ volatile(".option push\n"
                     ".option norvc\n"
                     ".balign 16\n"
                     "slli x0, x0, 0x1f\n"
                     "ebreak\n"
                     "srai x0, x0, 7\n"
                     ".option pop\n"
                     "ret\n");
}

/* --- Clock ---------------------------------------------------------------------------------- */

static uint64_t clock_start;

void clock_initialise(void)
{
    __asm__ volatile("csrwi mcountinhibit, 0");
}

/* Always the same number of instructions when the low half does not overflow on the way. */
static inline uint64_t retired_instructions(void)
{
    uint32_t low;
    uint32_t high;
    uint32_t again;
    do {
        __asm__ volatile("csrr %0, minstreth\n"
                         "csrr %1, minstret\n"
                         "csrr %2, minstreth\n"
                         : "=&r"(high), "=&r"(low), "=&r"(again)::"memory");
    } while (high != again);
    return ((uint64_t)high << 32) | low;
}

void platform_clock_restart(void)
{
    clock_start = retired_instructions();
    __asm__ volatile("" ::: "memory");
}

uint64_t platform_clock_elapsed(void)
{
    return retired_instructions() - clock_start;
}

uint64_t platform_clock_now(void)
{
    return retired_instructions();
}

__attribute__((naked, noinline)) int32_t platform_empty_run(UNUSED const inputs_of_model *inputs,
                                                            UNUSED const outputs_of_model *outputs,
                                                            UNUSED void *arena)
{
    __asm__ volatile("ret");
}
