/* SPDX-License-Identifier: 0BSD */
/* The start of a chip: its clock at full speed, and the pins of the console. What is of the board
 * is in board.h (CHIP_...), from board.json. */
#ifndef INCLUDED_CHIP
#define INCLUDED_CHIP

#include <stdint.h>

#include "board.h"

struct chip_clock {
    uint32_t hz;         /* of the processor, as it runs now */
    uint32_t uart_hz;    /* of what the console's UART divides */
    const char *trouble; /* what did not come in time: then it is the clock after reset; null: all well */
};

struct chip_clock chip_start(void);

#ifdef CHIP_REGISTERS
#include CHIP_REGISTERS /* a test has registers of its own */
#else
static inline uint32_t get(uint32_t address) { return *(volatile uint32_t *)(uintptr_t)address; }
static inline void set(uint32_t address, uint32_t value)
{
    *(volatile uint32_t *)(uintptr_t)address = value;
}
#endif

/* More than 10 ms at any clock after reset that there is here: what is waited for takes less than
 * one. A wait that ends without it is reported, never repeated. */
#define CHIP_MOST_LOOKS 200000u

/* 1 when the bits of `mask` are `wanted`; 0 if they never were. */
static inline int chip_wait(uint32_t address, uint32_t mask, uint32_t wanted)
{
    uint32_t looks;
    for (looks = 0; looks < CHIP_MOST_LOOKS; ++looks) {
        if ((get(address) & mask) == wanted) { return 1; }
    }
    return 0;
}

static inline void chip_change(uint32_t address, uint32_t mask, uint32_t value)
{
    set(address, (get(address) & ~mask) | value);
}

#ifdef CHIP_GPIO_BASE

/* STM32, "GPIO registers": MODER 0, PUPDR 0xC, AFRL and AFRH 0x20. `pin`: port * 16 + number. */
static inline void chip_pin(uint32_t pin)
{
    const uint32_t port = CHIP_GPIO_BASE + 0x400u * (pin / 16u);
    const uint32_t at = pin % 16u;
    chip_change(CHIP_GPIO_ENABLE, 1u << (pin / 16u), 1u << (pin / 16u));
    (void)get(CHIP_GPIO_ENABLE); /* the clock is there behind a read */
    chip_change(port + 0x20u + 4u * (at / 8u), 15u << (4u * (at % 8u)),
                (uint32_t)CHIP_PIN_FUNCTION << (4u * (at % 8u)));
    chip_change(port + 0x0Cu, 3u << (2u * at), 1u << (2u * at)); /* pull-up: an open line is idle */
    chip_change(port, 3u << (2u * at), 2u << (2u * at));         /* alternate function */
}

/* The pins and the clock of the console's UART. */
static inline void chip_console(void)
{
    chip_pin(CHIP_TX_PIN);
    chip_pin(CHIP_RX_PIN);
    chip_change(CHIP_UART_ENABLE, 1u << CHIP_UART_ENABLE_BIT, 1u << CHIP_UART_ENABLE_BIT);
    (void)get(CHIP_UART_ENABLE);
}

#endif

#endif
