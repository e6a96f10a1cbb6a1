/* SPDX-License-Identifier: Apache-2.0 */
/* The Zephyr project's platform on stand-ins: its line is standard input and output, so that the
 * runner can talk to the whole of it; with an argument its clock is tested with simulated time. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define main zephyr_main
#include "platform_zephyr.c"
#undef main

const struct device the_uart;
static uint64_t cycles;   /* since the start */
static uint32_t counter;  /* what the counter had then */
static uint32_t hz = 1000000000u;
static int is_simulated;

static uint64_t now(void)
{
    struct timespec time;
    if (is_simulated) { return cycles; }
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint32_t k_cycle_get_32(void)
{
    return (uint32_t)now() + counter;
}

int64_t k_uptime_ticks(void)
{
    return (int64_t)(now() / hz * CONFIG_SYS_CLOCK_TICKS_PER_SEC +
                     now() % hz * CONFIG_SYS_CLOCK_TICKS_PER_SEC / hz);
}

int sys_clock_hw_cycles_per_sec(void)
{
    return (int)hz;
}

int uart_poll_in(const struct device *uart, unsigned char *byte)
{
    (void)uart;
    if (read(STDIN_FILENO, byte, 1) != 1) { exit(0); }
    return 0;
}

void uart_poll_out(const struct device *uart, unsigned char byte)
{
    (void)uart;
    if (write(STDOUT_FILENO, &byte, 1) != 1) { exit(1); }
}

/* Steps of nothing to minutes, over hours: never back, and as far as the cycles went. */
static int clock_is_right(void)
{
    uint32_t noise = 1;
    uint64_t before;
    uint64_t start;
    uint64_t first;
    int i;
    is_simulated = 1;
    cycles = 12345;
    first = cycles;
    start = before = platform_clock_now();
    for (i = 0; i < 100000; ++i) {
        uint64_t after;
        uint64_t want;
        noise = noise * 1664525u + 1013904223u;
        cycles += (uint64_t)(noise >> 8) >> (i % 24) << (i % 13);
        after = platform_clock_now();
        want = (uint64_t)((double)(cycles - first) * 1e9 / hz);
        if (after < before || after - start > want + want / 1000000u + 2000u ||
            after - start + want / 1000000u + 2000u < want) {
            (void)printf("step %d: %llu ns, not %llu\n", i, (unsigned long long)(after - start),
                         (unsigned long long)want);
            return 0;
        }
        before = after;
    }
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 3) { return zephyr_main(); }
    hz = (uint32_t)strtoul(argv[1], 0, 10);
    counter = (uint32_t)strtoul(argv[2], 0, 10);
    return clock_is_right() ? 0 : 1;
}
