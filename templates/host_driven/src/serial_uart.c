/* The line on a UART of the board, polled: while an operator runs nothing else does. */
#include "board.h"
#include "harness.h"
#include "serial.h"

#define UART(offset) (*(volatile uint32_t *)(BOARD_UART_BASE + (offset)))

#if defined(BOARD_UART_cmsdk)

void serial_initialise(void)
{
    UART(0x08u) = 3u; /* transmitter and receiver on; the platform has set the rate */
}

int serial_get(void)
{
    while ((UART(0x04u) & 2u) == 0u) {}
    return (uint8_t)UART(0x00u);
}

static void put(uint8_t byte)
{
    while ((UART(0x04u) & 1u) != 0u) {}
    UART(0x00u) = byte;
}

#elif defined(BOARD_UART_nrf51)

void serial_initialise(void)
{
    UART(0x108u) = 0u;
    UART(0x000u) = 1u; /* start receiving */
}

int serial_get(void)
{
    while (UART(0x108u) == 0u) {}
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

void serial_initialise(void)
{
    UART_BYTE(2u) = 1u; /* FIFO on */
}

int serial_get(void)
{
    while ((UART_BYTE(5u) & 1u) == 0u) {}
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
