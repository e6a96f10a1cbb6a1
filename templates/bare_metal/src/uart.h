/* SPDX-License-Identifier: 0BSD */
/* The board's UART, byte by byte: what board.h names. Nothing is received before uart_listen. */
#ifndef INCLUDED_UART
#define INCLUDED_UART

#include "board.h"

#define UART(offset) (*(volatile uint32_t *)(BOARD_UART_BASE + (offset)))

/* Each: uart_start (the transmitter; `hz` is the rate of the clock that it gets), uart_listen (the
 * receiver), uart_interrupt (one for each byte received), uart_received, uart_take, uart_put. */

#if defined(BOARD_UART_cmsdk)

static inline void uart_start(uint32_t hz)
{
    (void)hz;
    UART(0x10u) = 16u; /* baud rate divider: the smallest that is legal */
    UART(0x08u) = 1u;  /* transmitter on */
}
static inline void uart_listen(void) { UART(0x08u) = 3u; }
static inline void uart_interrupt(void) { UART(0x08u) = 0xBu; }
static inline int uart_received(void) { return (UART(0x04u) & 2u) != 0u; }
static inline uint8_t uart_take(void)
{
    const uint8_t byte = (uint8_t)UART(0x00u);
    UART(0x0Cu) = 2u; /* the interrupt is served */
    return byte;
}
static inline void uart_put(uint8_t byte)
{
    while ((UART(0x04u) & 1u) != 0u) {}
    UART(0x00u) = byte;
}

#elif defined(BOARD_UART_nrf51)

static inline void uart_start(uint32_t hz)
{
#ifdef BOARD_CHIP
    UART(0x50Cu) = CHIP_TX_PIN; /* PSEL.TXD, PSEL.RXD: port * 32 + pin */
    UART(0x514u) = CHIP_RX_PIN;
    /* BAUDRATE: 2^32 * baud / 16 MHz, of which the upper 20 bits count */
    UART(0x524u) = (uint32_t)((((uint64_t)BOARD_BAUD << 32) / 16000000u + 0x800u) & 0xFFFFF000u);
#endif
    (void)hz;
    UART(0x500u) = 4u; /* on */
    UART(0x008u) = 1u; /* start transmitting */
}
static inline void uart_listen(void)
{
    UART(0x108u) = 0u;
    UART(0x000u) = 1u; /* start receiving */
}
static inline void uart_interrupt(void) { UART(0x304u) = 4u; }
static inline int uart_received(void) { return UART(0x108u) != 0u; }
static inline uint8_t uart_take(void)
{
    UART(0x108u) = 0u;
    return (uint8_t)UART(0x518u);
}
static inline void uart_put(uint8_t byte)
{
    UART(0x11Cu) = 0u;
    UART(0x51Cu) = byte;
    while (UART(0x11Cu) == 0u) {}
}

#elif defined(BOARD_UART_nrf_uarte)

/* It reads and writes memory itself: one byte at a time. It has a FIFO behind its line. */
extern volatile uint8_t uart_in, uart_out;

static inline void uart_start(uint32_t hz)
{
    (void)hz;
    UART(0x50Cu) = CHIP_TX_PIN; /* PSEL.TXD, PSEL.RXD: port * 32 + pin */
    UART(0x514u) = CHIP_RX_PIN;
    UART(0x524u) = (uint32_t)((((uint64_t)BOARD_BAUD << 32) / 16000000u + 0x800u) & 0xFFFFF000u);
    UART(0x534u) = (uint32_t)(uintptr_t)&uart_in; /* RXD.PTR, MAXCNT */
    UART(0x538u) = 1u;
    UART(0x544u) = (uint32_t)(uintptr_t)&uart_out; /* TXD.PTR, MAXCNT */
    UART(0x548u) = 1u;
    UART(0x500u) = 8u; /* on */
}
static inline void uart_listen(void)
{
    UART(0x110u) = 0u; /* EVENTS_ENDRX */
    UART(0x000u) = 1u; /* TASKS_STARTRX */
}
static inline void uart_interrupt(void) { UART(0x304u) = 0x10u; }
static inline int uart_received(void) { return UART(0x110u) != 0u; }
static inline uint8_t uart_take(void)
{
    const uint8_t byte = uart_in;
    uart_listen();
    return byte;
}
static inline void uart_put(uint8_t byte)
{
    uart_out = byte;
    UART(0x120u) = 0u; /* EVENTS_ENDTX */
    UART(0x008u) = 1u; /* TASKS_STARTTX */
    while (UART(0x120u) == 0u) {}
}

#elif defined(BOARD_UART_ns16550)

#define UART_BYTE(offset) (*(volatile uint8_t *)(BOARD_UART_BASE + (offset)))

static inline void uart_start(uint32_t hz) { (void)hz; }
/* FIFO on; an emulator fills it up to its level: the highest. */
static inline void uart_listen(void) { UART_BYTE(2u) = 0xC1u; }
static inline void uart_interrupt(void) {}
static inline int uart_received(void) { return (UART_BYTE(5u) & 1u) != 0u; }
static inline uint8_t uart_take(void) { return UART_BYTE(0u); }
static inline void uart_put(uint8_t byte)
{
    while ((UART_BYTE(5u) & 0x20u) == 0u) {}
    UART_BYTE(0u) = byte;
}

#elif defined(BOARD_UART_stm32_usart)

/* STM32F4: SR 0, DR 4, BRR 8, CR1 0xC. BRR is the divider where a bit is sampled 16 times. */
static inline void uart_start(uint32_t hz)
{
    UART(0x08u) = (hz + BOARD_BAUD / 2u) / BOARD_BAUD;
    UART(0x0Cu) = 0x2008u; /* UE, TE: 8 bits, no parity, 1 stop bit */
}
static inline void uart_listen(void) { UART(0x0Cu) |= 4u; }     /* RE */
static inline void uart_interrupt(void) { UART(0x0Cu) |= 0x20u; } /* RXNEIE */
static inline int uart_received(void) { return (UART(0x00u) & 0x20u) != 0u; } /* RXNE */
/* A read of SR, then of DR: that clears what an overrun has set, too. */
static inline uint8_t uart_take(void) { return (uint8_t)UART(0x04u); }
static inline void uart_put(uint8_t byte)
{
    while ((UART(0x00u) & 0x80u) == 0u) {} /* TXE */
    UART(0x04u) = byte;
}

#elif defined(BOARD_UART_stm32_usart2) || defined(BOARD_UART_stm32_lpuart)

/* STM32F7, G4, H7, L4: CR1 0, CR3 8, BRR 0xC, ISR 0x1C, RDR 0x24, TDR 0x28. */
#if defined(BOARD_UART_stm32_lpuart)
#define UART_DIVIDEND_SHIFT 8u /* BRR is 256 times the divider */
#else
#define UART_DIVIDEND_SHIFT 0u
#endif

static inline void uart_start(uint32_t hz)
{
    const uint64_t dividend = (uint64_t)hz << UART_DIVIDEND_SHIFT;
    UART(0x0Cu) = (uint32_t)((dividend + BOARD_BAUD / 2u) / BOARD_BAUD);
    UART(0x08u) = 0x1000u; /* OVRDIS: a byte that nobody took gives way to the next */
    UART(0x00u) = 9u;      /* UE, TE: 8 bits, no parity, 1 stop bit */
}
static inline void uart_listen(void) { UART(0x00u) |= 4u; }     /* RE */
static inline void uart_interrupt(void) { UART(0x00u) |= 0x20u; } /* RXNEIE */
static inline int uart_received(void) { return (UART(0x1Cu) & 0x20u) != 0u; } /* RXNE */
static inline uint8_t uart_take(void) { return (uint8_t)UART(0x24u); }
static inline void uart_put(uint8_t byte)
{
    while ((UART(0x1Cu) & 0x80u) == 0u) {} /* TXE */
    UART(0x28u) = byte;
}

#elif !defined(BOARD_UART_semihosting)
#error "board.h names a console that uart.h does not know"
#endif

#endif
