/* SPDX-License-Identifier: 0BSD */
/* nRF52840 and the application core of nRF5340, by their product specifications: "CLOCK - Clock
 * control", "GPIO - General purpose input/output", "UART", and for the flash's cache "NVMC"
 * (ICACHECNF) or "CACHE" (ENABLE). The crystal is started, since the UART divides its clock. */
#include "chip.h"

#ifndef BOARD_CHIP
typedef int chip_is_not_started; /* a file may not be empty */
#else

#define TASKS_HFCLKSTART (CHIP_CLOCK_BASE + 0x000u)
#define EVENTS_HFCLKSTARTED (CHIP_CLOCK_BASE + 0x100u)
#define HFCLKCTRL (CHIP_CLOCK_BASE + 0x558u) /* nRF5340: 0 is 128 MHz, 1 is 64 MHz as after reset */

/* `pin`: port * 32 + number. An idle line is high before the UART takes it. */
static void connect(uint32_t pin, int output)
{
    const uint32_t port = CHIP_GPIO + CHIP_GPIO_STEP * (pin / 32u);
    const uint32_t at = pin % 32u;
    if (output) { set(port + 0x008u, 1u << at); } /* OUTSET */
    /* PIN_CNF: output, or input with its buffer and a pull-up */
    set(port + 0x200u + 4u * at, output ? 3u : 0xCu);
}

struct chip_clock chip_start(void)
{
    struct chip_clock clock = {BOARD_CLOCK_HZ, 16000000u, 0};
    set(EVENTS_HFCLKSTARTED, 0u);
    set(TASKS_HFCLKSTART, 1u);
    if (!chip_wait(EVENTS_HFCLKSTARTED, 1u, 1u)) { clock.trouble = "HFCLKSTARTED"; }
    set(CHIP_CACHE, 1u);
    if (CHIP_HAS_DIVIDER != 0u && clock.trouble == 0) {
        set(HFCLKCTRL, 0u);
        if (chip_wait(HFCLKCTRL, 3u, 0u)) {
            clock.hz = CHIP_HZ;
        } else {
            clock.trouble = "HFCLKCTRL";
        }
    }
    connect(CHIP_TX_PIN, 1);
    connect(CHIP_RX_PIN, 0);
    return clock;
}

#endif
