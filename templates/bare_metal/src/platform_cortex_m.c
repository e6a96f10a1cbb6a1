/* SPDX-License-Identifier: 0BSD */
/* Cortex-M: vectors, start, semihosting and a clock made of SysTick alone, so that any Cortex-M
 * board works without knowing its timers.
 *
 * SysTick is 24 bits wide and slower than the processor. An interrupt extends it; that it runs in
 * a known number of instructions lets them be taken off again. An emulator that counts
 * instructions moves time by exactly one nanosecond an instruction: there, reading SysTick many
 * times at a known distance tells where inside of a tick the first read was, as a vernier does,
 * and the clock is exact to the instruction. */
#include "board.h"
#include "harness.h"

void platform_start(void) __attribute__((noreturn));
void platform_fault(uintptr_t where, uintptr_t cause);
intptr_t semihosting_call(uint32_t operation, const void *argument);
void clock_initialise(void);
void reset_entry(void);
void fault_handler(void);
void tick_handler(void);
void report_fault(const uint32_t *frame, uint32_t cause) __attribute__((noreturn));

extern uint32_t __stack_top[], __stack_bottom[];

/* --- Start ---------------------------------------------------------------------------------- */

typedef void (*vector)(void);

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    (vector)(uintptr_t)__stack_top,
    reset_entry,
    fault_handler, /* NMI */
    fault_handler, /* HardFault */
    fault_handler, /* MemManage */
    fault_handler, /* BusFault */
    fault_handler, /* UsageFault */
    fault_handler, /* SecureFault */
    0,
    0,
    0,
    fault_handler, /* SVCall */
    fault_handler, /* DebugMonitor */
    0,
    fault_handler, /* PendSV */
    tick_handler,
};

/* The floating point and vector units must be on before any compiled function may use them. */
__attribute__((naked, used, noreturn)) void reset_entry(void)
{
    __asm__ volatile(
        ".syntax unified\n"
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
        "ldr r0, =0xE000ED88\n" /* CPACR: full access to coprocessors 10 and 11 */
        "ldr r1, [r0]\n"
        "orr r1, r1, #0x00F00000\n"
        "str r1, [r0]\n"
        "dsb\n"
        "isb\n"
#endif
        "ldr r0, =__stack_top\n"
        "mov sp, r0\n"
        "bl platform_start\n"
        ".ltorg\n");
}

/* On a fresh stack, because a stack that has overflowed is a likely reason to be here. */
__attribute__((naked, used)) void fault_handler(void)
{
    __asm__ volatile(".syntax unified\n"
                     "mrs r0, msp\n"
                     "mrs r1, ipsr\n"
                     "ldr r2, =__stack_top\n"
                     "mov sp, r2\n"
                     "bl report_fault\n"
                     ".ltorg\n");
}

__attribute__((used)) void report_fault(const uint32_t *frame, uint32_t cause)
{
    const int readable = frame >= __stack_bottom && frame + 8 <= __stack_top;
    platform_fault(readable ? frame[6] : 0u, cause);
    for (;;) {}
}

/* Clang takes no statement but assembly in a naked function. */
#define UNUSED __attribute__((unused))

__attribute__((naked, noinline)) intptr_t semihosting_call(UNUSED uint32_t operation,
                                                           UNUSED const void *argument)
{
    __asm__ volatile("bkpt 0xAB\n"
                     "bx lr\n");
}

/* --- Clock ---------------------------------------------------------------------------------- */

#define SYST_CSR (*(volatile uint32_t *)0xE000E010u)
#define SYST_RVR (*(volatile uint32_t *)0xE000E014u)
#define SYST_CVR (*(volatile uint32_t *)0xE000E018u)
#define ICSR (*(volatile uint32_t *)0xE000ED04u)
#define ICSR_PENDSTSET (1u << 26)
#define ICSR_PENDSTCLR (1u << 25)
#define CSR_OFF_INTERRUPT 5u
#define CSR_INTERRUPT 7u
#define COUNTER_RANGE 0x1000000u

/* Reads of the vernier, and instructions from one to the next. The distance must share no factor
 * with the nanoseconds in a tick (40, 50, 31.25, 62.5 ...), and the reads must be enough to meet
 * every position inside of one. Without instruction counting a single read is all there is. */
#define VERNIER_READS (BOARD_CLOCK_IS_INSTRUCTIONS ? 128u : 1u)
#define VERNIER_STEP 7u
#define TICK_HANDLER_INSTRUCTIONS 5u

/* Only the handler writes it while the clock runs. */
static volatile uint32_t wraps __attribute__((used));
static uint8_t vernier[VERNIER_READS];

__attribute__((naked, used)) void tick_handler(void)
{
    __asm__ volatile(".syntax unified\n"
                     "ldr r0, 1f\n"
                     "ldr r1, [r0]\n"
                     "adds r1, #1\n"
                     "str r1, [r0]\n"
                     "bx lr\n"
                     ".balign 4\n"
                     "1: .word wraps\n");
}

void clock_initialise(void)
{
    SYST_RVR = COUNTER_RANGE - 1u;
    SYST_CVR = 0u;
    SYST_CSR = CSR_OFF_INTERRUPT;
}

void platform_clock_restart(void)
{
    wraps = 0u;
    ICSR = ICSR_PENDSTCLR;
    SYST_CSR = CSR_INTERRUPT;
    SYST_CVR = 0u; /* starts a full period here, in step with this instruction */
    __asm__ volatile("" ::: "memory");
}

/* Fills `vernier` with the low bytes of SysTick; seven instructions an iteration. */
static inline void read_vernier(void)
{
    uint8_t *to = vernier;
    uint8_t *const end = vernier + VERNIER_READS;
    uint32_t value;
    __asm__ volatile(".syntax unified\n"
                     "cpsid i\n"
                     "1: ldr %[value], [%[counter]]\n"
                     "strb %[value], [%[to]]\n"
                     "adds %[to], #1\n"
                     "nop\n"
                     "nop\n"
                     "cmp %[to], %[end]\n"
                     "bne 1b\n"
                     : [value] "=&l"(value), [to] "+l"(to)
                     : [counter] "l"(&SYST_CVR), [end] "l"(end)
                     : "cc", "memory");
}

uint64_t platform_clock_elapsed(void)
{
    uint64_t ticks;
    uint64_t latest = 0;
    uint32_t low;
    uint32_t handled;
    uint32_t i;
    read_vernier();
    low = (0u - SYST_CVR) & (COUNTER_RANGE - 1u);
    handled = wraps;
    ticks = (uint64_t)handled * COUNTER_RANGE + low;
    /* The counter may have wrapped since interrupts went off, before it was read or after. */
    if ((ICSR & ICSR_PENDSTSET) != 0u && low < COUNTER_RANGE / 2u) { ticks += COUNTER_RANGE; }
    SYST_CSR = CSR_OFF_INTERRUPT;
    ICSR = ICSR_PENDSTCLR;
    __asm__ volatile("cpsie i" ::: "memory");

    /* Read i was at the first read's time + i * VERNIER_STEP ns, and at least at the start of its
     * tick: the latest of these bounds on the first read's time is that time. In ns * Hz. */
    for (i = 0; i < VERNIER_READS; ++i) {
        const uint32_t behind = ((uint32_t)ticks + vernier[i]) & 0xFFu;
        const uint64_t at_least = (ticks - behind) * 1000000000u;
        const uint64_t since_first = (uint64_t)(i * VERNIER_STEP) * board_hz;
        if (at_least > since_first && at_least - since_first > latest) {
            latest = at_least - since_first;
        }
    }
    latest = (latest + board_hz - 1u) / board_hz;
    return BOARD_CLOCK_IS_INSTRUCTIONS ? latest - handled * TICK_HANDLER_INSTRUCTIONS : latest;
}

/* To a tick of SysTick, which the first call starts. */
uint64_t platform_clock_now(void)
{
    static int is_running;
    uint64_t ticks;
    uint32_t low;
    if (!is_running) { platform_clock_restart(); }
    is_running = 1;
    __asm__ volatile("cpsid i" ::: "memory");
    low = (0u - SYST_CVR) & (COUNTER_RANGE - 1u);
    ticks = (uint64_t)wraps * COUNTER_RANGE + low;
    /* The counter may have wrapped since interrupts went off, before it was read or after. */
    if ((ICSR & ICSR_PENDSTSET) != 0u && low < COUNTER_RANGE / 2u) { ticks += COUNTER_RANGE; }
    __asm__ volatile("cpsie i" ::: "memory");
    return ticks / board_hz * 1000000000u +
           ticks % board_hz * 1000000000u / board_hz;
}

__attribute__((naked, noinline)) int32_t platform_empty_run(UNUSED const inputs_of_model *inputs,
                                                            UNUSED const outputs_of_model *outputs,
                                                            UNUSED void *arena)
{
    __asm__ volatile("bx lr");
}
