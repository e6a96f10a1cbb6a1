/* SPDX-License-Identifier: 0BSD */
/* STM32L4+ (RM0432) and STM32G4 (RM0440): from the clock after reset, MSI of 4 MHz or HSI16, to the
 * PLL in range 1 boost mode. Registers and values are those of the manual's sections "Clock control
 * register (RCC_CR)", "PLL configuration register (RCC_PLLCFGR)", "Clock configuration register
 * (RCC_CFGR)", "Power control register 5 (PWR_CR5)" and "Flash access control register (FLASH_ACR)";
 * the order is that of "Dynamic voltage scaling management": from range 1 normal to boost mode. */
#include "chip.h"

#ifndef BOARD_CHIP
typedef int chip_is_not_started; /* a file may not be empty */
#else

#define RCC_CR 0x40021000u
#define RCC_CFGR 0x40021008u
#define RCC_PLLCFGR 0x4002100Cu
#define RCC_APB1ENR1 0x40021058u
#define PWR_CR2 0x40007004u
#define PWR_CR5 0x40007080u
#define FLASH_ACR 0x40022000u

#define PLLON (1u << 24)
#define PLLRDY (1u << 25)
#define PLLREN (1u << 24) /* in RCC_PLLCFGR; PLLR 0: half of the VCO */
#define PWREN (1u << 28)
#define R1MODE (1u << 8)  /* 0: boost */
#define IOSV (1u << 9)    /* VDDIO2 is there: pins of port G */
#define LATENCY 15u
#define CACHES (7u << 8)  /* PRFTEN, ICEN, DCEN */
#define SW 3u
#define SW_PLL 3u
#define SWS (3u << 2)
#define HPRE (15u << 4)
#define HPRE_2 (8u << 4)

static const char *full_speed(void)
{
    uint32_t i;
    chip_change(RCC_CFGR, HPRE, HPRE_2);
    chip_change(PWR_CR5, R1MODE, 0u);
    chip_change(FLASH_ACR, LATENCY | CACHES, CHIP_WAIT_STATES | CACHES);
    if (!chip_wait(FLASH_ACR, LATENCY, CHIP_WAIT_STATES)) { return "LATENCY"; }
    set(RCC_PLLCFGR, CHIP_PLL_SOURCE | (CHIP_PLL_M - 1u) << 4 | CHIP_PLL_N << 8 | PLLREN);
    chip_change(RCC_CR, PLLON, PLLON);
    if (!chip_wait(RCC_CR, PLLRDY, PLLRDY)) { return "PLLRDY"; }
    chip_change(RCC_CFGR, SW, SW_PLL);
    if (!chip_wait(RCC_CFGR, SWS, SW_PLL << 2)) { return "SWS"; }
    /* At half of the full speed for a microsecond at least. */
    for (i = 0; i < 200u; ++i) { (void)get(RCC_CFGR); }
    chip_change(RCC_CFGR, HPRE, 0u);
    return 0;
}

/* As after reset. Wait states and voltage go last, and only when the PLL is known not to be used. */
static void back(void)
{
    chip_change(RCC_CFGR, SW, CHIP_RESET_SOURCE);
    if (!chip_wait(RCC_CFGR, SWS, CHIP_RESET_SOURCE << 2)) { return; }
    chip_change(RCC_CFGR, HPRE, 0u);
    chip_change(RCC_CR, PLLON, 0u);
    chip_change(FLASH_ACR, LATENCY, CHIP_RESET_WAIT_STATES);
    chip_change(PWR_CR5, R1MODE, R1MODE);
}

struct chip_clock chip_start(void)
{
    struct chip_clock clock = {BOARD_CLOCK_HZ, BOARD_CLOCK_HZ, 0};
    chip_change(RCC_APB1ENR1, PWREN, PWREN);
    (void)get(RCC_APB1ENR1);
    clock.trouble = full_speed();
    if (clock.trouble != 0) { back(); }
    /* What counts is what the processor runs on; APB1 is not divided. */
    if ((get(RCC_CFGR) & SWS) == SW_PLL << 2) {
        clock.hz = (get(RCC_CFGR) & HPRE) == HPRE_2 ? CHIP_HZ / 2u : CHIP_HZ;
        clock.uart_hz = clock.hz;
    }
    if (CHIP_VDDIO2 != 0u) { chip_change(PWR_CR2, IOSV, IOSV); }
    chip_console();
    return clock;
}

#endif
