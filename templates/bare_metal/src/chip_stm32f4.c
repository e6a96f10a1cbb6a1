/* SPDX-License-Identifier: 0BSD */
/* STM32F446 (RM0390) and STM32F74x (RM0385): from the HSI of 16 MHz after reset to the PLL, with
 * over-drive. Registers and values are those of the manual's sections "RCC clock control register
 * (RCC_CR)", "RCC PLL configuration register (RCC_PLLCFGR)", "RCC clock configuration register
 * (RCC_CFGR)", "PWR power control register" and "Flash access control register (FLASH_ACR)"; the
 * order is that of "Entering Over-drive mode". */
#include "chip.h"

#ifndef BOARD_CHIP
typedef int chip_is_not_started; /* a file may not be empty */
#else

#define RCC_CR 0x40023800u
#define RCC_PLLCFGR 0x40023804u
#define RCC_CFGR 0x40023808u
#define RCC_APB1ENR 0x40023840u
#define PWR_CR 0x40007000u
#define PWR_CSR 0x40007004u
#define FLASH_ACR 0x40023C00u

#define HSIRDY (1u << 1)
#define PLLON (1u << 24)
#define PLLRDY (1u << 25)
#define PWREN (1u << 28)
#define VOS_SCALE_1 (3u << 14)
#define ODEN (1u << 16)   /* in PWR_CR; in PWR_CSR: ODRDY */
#define ODSWEN (1u << 17) /* in PWR_CR; in PWR_CSR: ODSWRDY */
#define LATENCY 15u
#define SW_PLL 2u
#define SWS (3u << 2)
#define PRESCALERS 0xFCF0u /* HPRE, PPRE1, PPRE2 */
/* "Relation between CPU clock frequency and Flash memory read time": none up to 30 MHz at 2.7 to
 * 3.6 V. */
#define HSI_HZ 16000000u

/* What did not come, or null. */
static const char *full_speed(void)
{
    chip_change(RCC_APB1ENR, PWREN, PWREN);
    (void)get(RCC_APB1ENR);
    if (!chip_wait(RCC_CR, HSIRDY, HSIRDY)) { return "HSIRDY"; }
    chip_change(PWR_CR, VOS_SCALE_1, VOS_SCALE_1);
    /* PLLM, PLLN, PLLP 0: half of the VCO, PLLSRC 0: HSI, PLLQ; what is above stays as it is */
    chip_change(RCC_PLLCFGR, 0x0F437FFFu, CHIP_PLL_M | CHIP_PLL_N << 6 | 8u << 24);
    chip_change(RCC_CR, PLLON, PLLON);
    chip_change(PWR_CR, ODEN, ODEN);
    if (!chip_wait(PWR_CSR, ODEN, ODEN)) { return "ODRDY"; }
    chip_change(PWR_CR, ODSWEN, ODSWEN);
    if (!chip_wait(PWR_CSR, ODSWEN, ODSWEN)) { return "ODSWRDY"; }
    chip_change(FLASH_ACR, LATENCY | CHIP_FLASH_CACHES, CHIP_WAIT_STATES | CHIP_FLASH_CACHES);
    if (!chip_wait(FLASH_ACR, LATENCY, CHIP_WAIT_STATES)) { return "LATENCY"; }
    /* HPRE 0: 1, PPRE1 5: 4, PPRE2 4: 2 */
    chip_change(RCC_CFGR, PRESCALERS, 5u << 10 | 4u << 13);
    if (!chip_wait(RCC_CR, PLLRDY, PLLRDY)) { return "PLLRDY"; }
    chip_change(RCC_CFGR, 3u, SW_PLL);
    if (!chip_wait(RCC_CFGR, SWS, SW_PLL << 2)) { return "SWS"; }
    return 0;
}

/* As after reset. Wait states go last, and only when the processor is known to run on the HSI. */
static void back(void)
{
    chip_change(RCC_CFGR, 3u, 0u);
    if (!chip_wait(RCC_CFGR, SWS, 0u)) { return; }
    chip_change(RCC_CFGR, PRESCALERS, 0u);
    chip_change(RCC_CR, PLLON, 0u);
    chip_change(PWR_CR, ODSWEN, 0u);
    chip_change(PWR_CR, ODEN, 0u);
    chip_change(FLASH_ACR, LATENCY, 0u);
}

struct chip_clock chip_start(void)
{
    struct chip_clock clock = {HSI_HZ, HSI_HZ, 0};
    clock.trouble = full_speed();
    if (clock.trouble != 0) { back(); }
    /* What counts is what the processor runs on. */
    if ((get(RCC_CFGR) & SWS) == SW_PLL << 2) {
        clock.hz = CHIP_HZ;
        clock.uart_hz = CHIP_HZ / CHIP_UART_DIVIDER;
    }
    chip_console();
    return clock;
}

#endif
