/* SPDX-License-Identifier: Apache-2.0 */
/* What stand_in.h declares, for a program on a desktop. Time is simulated: every look at the clock
 * takes STAND_IN_STEP cycles. The counter starts far from 0, so that it wraps soon. */
#include "stand_in.h"

#include <stdarg.h>
#include <stdio.h>

#ifndef STAND_IN_STEP
#define STAND_IN_STEP 1000
#endif
#define HZ 25000000

static uint64_t cycles = 5000000;

void printk(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
}

uint32_t k_cycle_get_32(void)
{
    cycles += STAND_IN_STEP;
    return (uint32_t)(cycles + 0xFFFFF000u);
}

int64_t k_uptime_ticks(void)
{
    return (int64_t)(cycles * CONFIG_SYS_CLOCK_TICKS_PER_SEC / HZ);
}

int sys_clock_hw_cycles_per_sec(void)
{
    return HZ;
}

#if defined(CONFIG_TIMER_HAS_64BIT_CYCLE_COUNTER)
uint64_t k_cycle_get_64(void)
{
    cycles += STAND_IN_STEP;
    return cycles;
}
#endif

struct k_thread *k_current_get(void)
{
    return NULL;
}

#if defined(CONFIG_INIT_STACKS) && defined(CONFIG_THREAD_STACK_INFO)
int k_thread_stack_space_get(const struct k_thread *thread, size_t *unused_ptr)
{
    (void)thread;
    *unused_ptr = 1234;
    return 0;
}
#endif

#if defined(CONFIG_TIMING_FUNCTIONS)
static int timing_ready;

void timing_init(void)
{
    timing_ready = 1;
}

void timing_start(void)
{
    timing_ready += 1;
}

timing_t timing_counter_get(void)
{
    return timing_ready == 2 ? k_cycle_get_32() : 0;
}

uint64_t timing_freq_get(void)
{
    return HZ;
}
#endif

#if defined(CONFIG_SHELL)
void shell_fprintf(const struct shell *sh, enum shell_vt100_color color, const char *format, ...)
{
    va_list arguments;
    (void)color;
    (void)printf("%s", sh != NULL ? "" : "no shell: ");
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
}

/* After the application's own main every command once. */
__attribute__((destructor)) static void run_commands(void)
{
    const struct shell_static_entry *entry;
    for (entry = stand_in_commands; entry->syntax != NULL; ++entry) {
        int result;
        (void)printf("> %s %s\n", stand_in_command, entry->syntax);
        result = entry->handler((const struct shell *)&cycles, 1, NULL);
        (void)printf("= %d\n", result);
    }
}
#endif
