/* SPDX-License-Identifier: 0BSD */
/* The platform on Zephyr 2.5 and later: the line is the UART of the console, which nothing else
 * may use (prj.conf), the clock the kernel's. */
#include "harness.h"
#include "serial.h"

#if __has_include(<zephyr/kernel.h>)
#include <zephyr/device.h>
#include <zephyr/drivers/uart.h>
#include <zephyr/kernel.h>
#else
#include <device.h>
#include <drivers/uart.h>
#include <zephyr.h>
#endif

static const struct device *line;

/* --- Line ----------------------------------------------------------------------------------- */

void serial_initialise(void)
{
#if defined(DT_LABEL) && !__has_include(<zephyr/kernel.h>)
    line = device_get_binding(DT_LABEL(DT_CHOSEN(zephyr_console)));
#else
    line = DEVICE_DT_GET(DT_CHOSEN(zephyr_console));
#endif
}

/* Looks all the time: not every UART's driver receives by interrupt, and there is nothing else to
 * do. Bytes that come while a command is carried out can be lost; the host sends none then. */
int serial_get(void)
{
    uint8_t byte = 0;
    while (uart_poll_in(line, &byte) != 0) {}
    return byte;
}

void serial_put(const uint8_t *bytes, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; ++i) { uart_poll_out(line, bytes[i]); }
}

/* --- Clock ---------------------------------------------------------------------------------- */

/* The cycle counter has 32 bits and is exact, the time since the start has 64 and is coarse. Their
 * difference at the first call is the same ever after, so the coarse one tells the upper half. */
uint64_t platform_clock_now(void)
{
    static uint32_t offset;
    static int is_running;
    const uint64_t hz = (uint64_t)sys_clock_hw_cycles_per_sec();
    const uint64_t ticks = (uint64_t)k_uptime_ticks();
    const uint32_t low = k_cycle_get_32();
    const uint64_t coarse = ticks / CONFIG_SYS_CLOCK_TICKS_PER_SEC * hz +
                            ticks % CONFIG_SYS_CLOCK_TICKS_PER_SEC * hz /
                                CONFIG_SYS_CLOCK_TICKS_PER_SEC;
    uint64_t cycles;
    if (!is_running) { offset = low - (uint32_t)coarse; }
    is_running = 1;
    cycles = coarse + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)coarse - offset);
    return cycles / hz * 1000000000u + cycles % hz * 1000000000u / hz;
}

const char *platform_board(void)
{
    return CONFIG_BOARD;
}

/* Older Zephyr calls a main that returns nothing: it does not look at the result. */
int main(void)
{
    return harness_main(0, 0);
}
