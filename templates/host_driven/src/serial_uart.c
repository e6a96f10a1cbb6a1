/* SPDX-License-Identifier: 0BSD */
/* The line on a UART of the board, which nothing looks at while an operator runs: the host sends no
 * more than one request at a time. */
#include "board.h"
#include "harness.h"
#include "serial.h"
#include "uart.h"

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
    if (!uart_received()) { __asm__ volatile("dsb\n wfi\n isb" ::: "memory"); }
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
    uart_listen();
    uart_interrupt();
}

int serial_get(void)
{
    while (!uart_received()) { wait(); }
    return uart_take();
}

void serial_put(const uint8_t *bytes, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; ++i) { uart_put(bytes[i]); }
}

/* What the platform says of a fault: text on the line, which is no packet. */
void print_text(const char *text)
{
    while (*text != 0) { uart_put((uint8_t)*text++); }
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
