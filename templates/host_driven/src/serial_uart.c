/* SPDX-License-Identifier: 0BSD */
/* The line on a UART of the board, which nothing looks at while an operator runs: the host sends no
 * more than one request at a time. */
#include "board.h"
#include "harness.h"
#include "serial.h"

#define UART(offset) (*(volatile uint32_t *)(BOARD_UART_BASE + (offset)))

/* Each UART: `enable` with an interrupt for each byte received, `received`, `take`, `put`. */

#if defined(BOARD_UART_cmsdk)

static void enable(void)
{
    UART(0x08u) = 0xBu; /* transmitter, receiver and its interrupt; the platform has set the rate */
}

static int received(void)
{
    return (UART(0x04u) & 2u) != 0u;
}

static uint8_t take(void)
{
    const uint8_t byte = (uint8_t)UART(0x00u);
    UART(0x0Cu) = 2u; /* the interrupt is served */
    return byte;
}

static void put(uint8_t byte)
{
    while ((UART(0x04u) & 1u) != 0u) {}
    UART(0x00u) = byte;
}

#elif defined(BOARD_UART_nrf51)

static void enable(void)
{
    UART(0x108u) = 0u;
    UART(0x304u) = 4u; /* interrupt */
    UART(0x000u) = 1u; /* start receiving */
}

static int received(void)
{
    return UART(0x108u) != 0u;
}

static uint8_t take(void)
{
    UART(0x108u) = 0u;
    return (uint8_t)UART(0x518u);
}

static void put(uint8_t byte)
{
    UART(0x11Cu) = 0u;
    UART(0x51Cu) = byte;
    while (UART(0x11Cu) == 0u) {}
}

#elif defined(BOARD_UART_ns16550)

#define UART_BYTE(offset) (*(volatile uint8_t *)(BOARD_UART_BASE + (offset)))

static void enable(void)
{
    UART_BYTE(2u) = 0xC1u; /* FIFO on; an emulator fills it up to its level: the highest */
}

static int received(void)
{
    return (UART_BYTE(5u) & 1u) != 0u;
}

static uint8_t take(void)
{
    return UART_BYTE(0u);
}

static void put(uint8_t byte)
{
    while ((UART_BYTE(5u) & 0x20u) == 0u) {}
    UART_BYTE(0u) = byte;
}

#else
#error "serial_uart.c does not know how to receive on the UART that board.h names"
#endif

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

#define NVIC(offset) (*(volatile uint32_t *)(0xE000E100u + (offset)))
#define NVIC_REGISTERS 8u /* of 32 interrupts each: what the smallest core has */

/* Sleeps until a byte is there. Which interrupt the UART has differs from board to board, so all
 * are let through; as they are masked in the processor, they end its sleep and nothing more. An
 * emulator is several times as fast when its processor sleeps instead of polling. */
static void wait(void)
{
    uint32_t i;
    __asm__ volatile("cpsid i" ::: "memory");
    for (i = 0; i < NVIC_REGISTERS; ++i) { NVIC(4u * i) = 0xFFFFFFFFu; }
    if (!received()) { __asm__ volatile("dsb\n wfi\n isb" ::: "memory"); }
    for (i = 0; i < NVIC_REGISTERS; ++i) {
        NVIC(0x080u + 4u * i) = 0xFFFFFFFFu; /* disable */
        NVIC(0x180u + 4u * i) = 0xFFFFFFFFu; /* forget */
    }
    __asm__ volatile("dsb\n isb\n cpsie i" ::: "memory");
}

#else

/* A pause between two looks: an emulator is busy with each. */
static void wait(void)
{
    volatile uint32_t i;
    for (i = 0; i < 200u; ++i) {}
}

#endif

void serial_initialise(void)
{
    enable();
}

int serial_get(void)
{
    while (!received()) { wait(); }
    return take();
}

void serial_put(const uint8_t *bytes, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; ++i) { put(bytes[i]); }
}

/* What the platform says of a fault: text on the line, which is no packet. */
void print_text(const char *text)
{
    while (*text != 0) { put((uint8_t)*text++); }
}

void print_u64(uint64_t value)
{
    char digits[20];
    uint32_t at = (uint32_t)sizeof digits;
    do {
        digits[--at] = (char)('0' + (int)(value % 10u));
        value /= 10u;
    } while (value != 0u);
    serial_put((const uint8_t *)digits + at, (uint32_t)sizeof digits - at);
}
