/* SPDX-License-Identifier: 0BSD */
/* STM32H743 (RM0433): from the HSI of 64 MHz after reset to PLL1 at voltage scale 1, buses at half of
 * the processor's rate and peripherals at a quarter. Registers and values are those of the manual's
 * sections "RCC source control register (RCC_CR)", "RCC clock configuration register (RCC_CFGR)",
 * "RCC PLL1 dividers configuration register (RCC_PLL1DIVR)" and those around them, "PWR control
 * register 3 (PWR_CR3)", "PWR D3 domain control register (PWR_D3CR)" and "FLASH access control
 * register (FLASH_ACR)"; supply and voltage as in "System supply startup" and "Voltage scaling". */
#include "chip.h"

#ifndef BOARD_CHIP
typedef int chip_is_not_started; /* a file may not be empty */
#else

#define RCC_CR 0x58024400u
#define RCC_CFGR 0x58024410u
#define RCC_D1CFGR 0x58024418u
#define RCC_D2CFGR 0x5802441Cu
#define RCC_D3CFGR 0x58024420u
#define RCC_PLLCKSELR 0x58024428u
#define RCC_PLLCFGR 0x5802442Cu
#define RCC_PLL1DIVR 0x58024430u
#define PWR_CSR1 0x58024804u
#define PWR_CR3 0x5802480Cu
#define PWR_D3CR 0x58024818u
#define FLASH_ACR 0x52002000u

#define PLL1ON (1u << 24)
#define PLL1RDY (1u << 25)
#define ACTVOSRDY (1u << 13) /* in PWR_CSR1; in PWR_D3CR: VOSRDY */
#define SUPPLY 7u            /* BYPASS, LDOEN, SCUEN: written once after power is on */
#define LDOEN 2u
#define VOS_SCALE_1 (3u << 14)
#define ACR_TIMING 0x3Fu     /* LATENCY, WRHIGHFREQ; after reset the longest that there are */
#define ACR_RESET 0x37u
#define SW 7u
#define SW_PLL1 3u
#define SWS (7u << 3)

static const char *full_speed(void)
{
    chip_change(PWR_CR3, SUPPLY, LDOEN);
    if (!chip_wait(PWR_CSR1, ACTVOSRDY, ACTVOSRDY)) { return "ACTVOSRDY"; }
    chip_change(PWR_D3CR, VOS_SCALE_1, VOS_SCALE_1);
    if (!chip_wait(PWR_D3CR, ACTVOSRDY, ACTVOSRDY)) { return "VOSRDY"; }
    chip_change(RCC_PLLCKSELR, 0x3F3u, CHIP_PLL_M << 4); /* PLLSRC 0: HSI */
    /* PLL1RGE 2: 4 to 8 MHz, PLL1VCOSEL 0: wide, DIVP1EN */
    chip_change(RCC_PLLCFGR, 0x0007000Fu, 2u << 2 | 1u << 16);
    set(RCC_PLL1DIVR, (CHIP_PLL_N - 1u) | 1u << 9 | 1u << 16 | 1u << 24);
    chip_change(RCC_CR, PLL1ON, PLL1ON);
    /* HPRE 8: 2, D1PPRE, D2PPRE1, D2PPRE2, D3PPRE 4: 2 */
    chip_change(RCC_D1CFGR, 0xF7Fu, 8u | 4u << 4);
    chip_change(RCC_D2CFGR, 0x770u, 4u << 4 | 4u << 8);
    chip_change(RCC_D3CFGR, 0x70u, 4u << 4);
    chip_change(FLASH_ACR, ACR_TIMING, CHIP_WAIT_STATES | 2u << 4);
    if (!chip_wait(FLASH_ACR, ACR_TIMING, CHIP_WAIT_STATES | 2u << 4)) { return "LATENCY"; }
    if (!chip_wait(RCC_CR, PLL1RDY, PLL1RDY)) { return "PLL1RDY"; }
    chip_change(RCC_CFGR, SW, SW_PLL1);
    if (!chip_wait(RCC_CFGR, SWS, SW_PLL1 << 3)) { return "SWS"; }
    return 0;
}

/* As after reset. Wait states go first here: they become more. Voltage stays. */
static void back(void)
{
    chip_change(FLASH_ACR, ACR_TIMING, ACR_RESET);
    chip_change(RCC_CFGR, SW, 0u);
    if (!chip_wait(RCC_CFGR, SWS, 0u)) { return; }
    chip_change(RCC_D1CFGR, 0xF7Fu, 0u);
    chip_change(RCC_D2CFGR, 0x770u, 0u);
    chip_change(RCC_D3CFGR, 0x70u, 0u);
    chip_change(RCC_CR, PLL1ON, 0u);
}

struct chip_clock chip_start(void)
{
    struct chip_clock clock = {BOARD_CLOCK_HZ, BOARD_CLOCK_HZ, 0};
    clock.trouble = full_speed();
    if (clock.trouble != 0) { back(); }
    /* What counts is what the processor runs on. */
    if ((get(RCC_CFGR) & SWS) == SW_PLL1 << 3) {
        clock.hz = CHIP_HZ;
        clock.uart_hz = CHIP_HZ / 4u;
    }
    chip_console();
    return clock;
}

#endif
