/* SPDX-License-Identifier: Apache-2.0 */
/* A chip's start, linked with chip_<kind>.c of a project, on registers of a model: what becomes ready
 * when, what the clock then is by the fields of the registers, and what is forbidden. Prints a row for
 * a start in which all comes, and one for each thing that never comes. What the manuals say is written
 * here a second time, from the registers to the rate; no silicon takes part. */
#include <stdio.h>
#include <stdlib.h>

#include "chip.h"

#ifndef CHIP_GPIO_BASE /* Nordic's */
#define CHIP_GPIO_BASE 0u
#define NRF 1
#else
#define NRF 0
#endif

static struct {
    uint32_t address, value;
} cells[256];
static uint32_t count;
static int stuck;       /* the thing that never comes, from 1 */
static unsigned things; /* asked for so far, a bit each */
static uint64_t looks;
static const char *broken;

static uint32_t *cell(uint32_t address)
{
    uint32_t i;
    for (i = 0; i < count; ++i) {
        if (cells[i].address == address) { return &cells[i].value; }
    }
    cells[count].address = address;
    cells[count].value = 0;
    return &cells[count++].value;
}

static uint32_t field(uint32_t address, uint32_t at, uint32_t bits)
{
    return *cell(address) >> at & ((1u << bits) - 1u);
}

static void require(int good, const char *what)
{
    if (!good && broken == 0) { broken = what; }
}

/* The n-th kind of thing that becomes ready: does it, in this start? */
static uint32_t ready(int thing, uint32_t when)
{
    things |= 1u << thing;
    return thing == stuck ? 0u : when;
}

#if NRF

#define CLOCK (CHIP_CLOCK_BASE)

static uint32_t hz(void)
{
    return CHIP_HAS_DIVIDER && stuck != 2 ? 128000000u >> field(CLOCK + 0x558u, 0, 2) : 64000000u;
}
static uint32_t uart_hz(void) { return 16000000u; }
static void after_reset(void) { *cell(CLOCK + 0x558u) = 1u; }
static int on_reset_clock(void) { return hz() == BOARD_CLOCK_HZ; }
static void check_switch(void) {}
static int can_wait(void) { return 1; }

static uint32_t answer(uint32_t address, uint32_t value)
{
    if (address == CLOCK + 0x100u) { return ready(1, *cell(CLOCK)); }
    if (address == CLOCK + 0x558u && stuck == 2) { return 1u; }
    if (address == CLOCK + 0x558u) { (void)ready(2, 0); }
    return value;
}

#else

#if CHIP_UART_ENABLE == 0x580244E8 /* H7 */
#define RCC 0x58024400u
#define CFGR (RCC + 0x10u)
#define ACR 0x52002000u
#define SWS_AT 3u
#define SW_BITS 3u
#define RESET_SW 0u
#define PLL_SW 3u
static uint32_t pll(void)
{
    const uint32_t source = 64000000u / field(RCC + 0x28u, 4, 6);
    require(field(RCC + 0x28u, 0, 2) == 0u, "PLLSRC");
    require(source >= 4000000u && source < 8000000u && field(RCC + 0x2Cu, 2, 2) == 2u, "input of the PLL");
    require(field(RCC + 0x2Cu, 1, 1) == 0u && (uint64_t)source * (field(RCC + 0x30u, 0, 9) + 1u) <= 836000000u, "VCO");
    return source * (field(RCC + 0x30u, 0, 9) + 1u) / (field(RCC + 0x30u, 9, 7) + 1u);
}
static uint32_t part(uint32_t code) { return code < 4u ? 1u : 2u << (code - 4u); }
static uint32_t running(void) { return field(CFGR, 0, 3) == PLL_SW ? pll() : 64000000u; }
static uint32_t ahb(void) { return field(RCC + 0x18u, 0, 4) < 8u ? running() : running() / 2u; }
static uint32_t hz(void) { return running(); }
static uint32_t uart_hz(void) { return ahb() / part(field(RCC + 0x1Cu, 4, 3)); }
static int can_wait(void)
{
    return ahb() <= 200000000u && (ahb() <= 70000000u || field(ACR, 0, 4) >= 2u) &&
           field(ACR, 4, 2) >= (ahb() > 185000000u ? 2u : 0u);
}
static void after_reset(void)
{
    *cell(ACR) = 0x37u;
    *cell(0x5802480Cu) = 6u;
    *cell(RCC + 0x28u) = 0x02020200u;
    *cell(RCC + 0x30u) = 0x01010280u;
}
static void check_voltage(void)
{
    require(field(0x58024818u, 14, 2) == 3u, "voltage scale 1");
    require(ahb() / part(field(RCC + 0x18u, 4, 3)) <= 100000000u && uart_hz() <= 100000000u, "APB");
}
static uint32_t answer(uint32_t address, uint32_t value)
{
    if (address == 0x58024804u) { return ready(1, 1u << 13); }
    if (address == 0x58024818u) { return value | ready(2, 1u << 13); }
    if (address == ACR && stuck == 3) { return 0x37u; }
    if (address == RCC) {
        (void)ready(3, 0);
        return value | ready(4, (value >> 24 & 1u) << 25);
    }
    return value;
}
#elif CHIP_GPIO_BASE == 0x48000000
#define RCC 0x40021000u
#define CFGR (RCC + 8u)
#define ACR 0x40022000u
#define SWS_AT 2u
#define SW_BITS 2u
#define RESET_SW CHIP_RESET_SOURCE
#define PLL_SW 3u
static uint32_t pll(void)
{
    const uint32_t source = field(RCC + 0xCu, 0, 2) == 1u ? 4000000u : 16000000u; /* MSI, HSI16 */
    const uint32_t vco = source / (field(RCC + 0xCu, 4, 4) + 1u) * field(RCC + 0xCu, 8, 7);
    require(vco >= 96000000u && vco <= 344000000u && field(RCC + 0xCu, 24, 1) == 1u, "VCO");
    return vco / (2u * (field(RCC + 0xCu, 25, 2) + 1u));
}
static uint32_t hz(void)
{
    const uint32_t fast = field(CFGR, 0, 2) == PLL_SW ? pll() : BOARD_CLOCK_HZ;
    return field(CFGR, 4, 4) == 8u ? fast / 2u : fast;
}
static uint32_t uart_hz(void) { return field(CFGR, 8, 6) == 0u ? hz() : 0u; }
/* 34 MHz a wait state in boost mode (G4); 20 MHz (L4+) */
static int can_wait(void) { return hz() <= (field(ACR, 0, 4) + 1u) * (CHIP_RESET_SOURCE ? 34000000u : 20000000u); }
static void after_reset(void)
{
    *cell(CFGR) = RESET_SW | RESET_SW << 2;
    *cell(ACR) = 0x600u;
    *cell(0x40007080u) = 0x100u;
}
static void check_voltage(void)
{
    require(field(0x40007080u, 8, 1) == 0u || hz() <= 80000000u, "boost");
    require(hz() <= 80000000u || field(CFGR, 4, 4) == 8u || field(CFGR, 2, 2) == PLL_SW, "at half first");
}
static uint32_t answer(uint32_t address, uint32_t value)
{
    if (address == ACR && stuck == 1) { return 0x600u; }
    if (address == RCC) {
        (void)ready(1, 0);
        return value | ready(2, (value >> 24 & 1u) << 25);
    }
    return value;
}
#else
#define RCC 0x40023800u
#define CFGR (RCC + 8u)
#define ACR 0x40023C00u
#define SWS_AT 2u
#define SW_BITS 2u
#define RESET_SW 0u
#define PLL_SW 2u
static uint32_t pll(void)
{
    const uint32_t source = 16000000u / field(RCC + 4u, 0, 6), vco = source * field(RCC + 4u, 6, 9);
    require(field(RCC + 4u, 22, 1) == 0u && source >= 1000000u && source <= 2000000u, "input of the PLL");
    require(vco >= 100000000u && vco <= 432000000u && field(RCC + 4u, 24, 4) >= 2u, "VCO");
    return vco / (2u * (field(RCC + 4u, 16, 2) + 1u));
}
static uint32_t part(uint32_t code) { return code < 4u ? 1u : 2u << (code - 4u); }
static uint32_t hz(void) { return field(CFGR, 0, 2) == PLL_SW ? pll() : 16000000u; }
static uint32_t uart_hz(void) { return hz() / part(field(CFGR, CHIP_UART_ENABLE == 0x40023840u ? 10 : 13, 3)); }
static int can_wait(void) { return hz() <= (field(ACR, 0, 4) + 1u) * 30000000u; }
static void after_reset(void)
{
    *cell(RCC) = 3u;
    *cell(RCC + 4u) = 0x24003010u;
    *cell(0x40007000u) = 0xC000u;
}
static void check_voltage(void)
{
    require(hz() <= 168000000u || (field(0x40007000u, 16, 2) == 3u && field(0x40007000u, 14, 2) == 3u), "over-drive");
    require(hz() / part(field(CFGR, 10, 3)) <= (CHIP_HZ == 180000000u ? 45000000u : 54000000u), "APB1");
    require(hz() / part(field(CFGR, 13, 3)) <= (CHIP_HZ == 180000000u ? 90000000u : 108000000u), "APB2");
}
static uint32_t answer(uint32_t address, uint32_t value)
{
    if (address == RCC) { return (value & ~2u) | ready(1, 2u) | ready(5, (value >> 24 & 1u) << 25); }
    if (address == 0x40007004u) {
        return ready(2, *cell(0x40007000u) & 1u << 16) | ready(3, *cell(0x40007000u) & 1u << 17);
    }
    if (address == ACR && stuck == 4) { return value & ~15u; }
    if (address == ACR) { (void)ready(4, 0); }
    return value;
}
#endif

static int on_reset_clock(void) { return field(CFGR, SWS_AT, SW_BITS) == RESET_SW; }

/* SW was written: the clock goes where it says, if it is there; SWS follows. */
static void check_switch(void)
{
    const uint32_t wanted = field(CFGR, 0, SW_BITS);
    const int comes = wanted != PLL_SW || (get(RCC) >> 25 & 1u) != 0u;
    const uint32_t status = ready(6, 1u) != 0u || wanted == RESET_SW ? wanted : RESET_SW;
    require(comes, "a switch to a PLL that is not locked");
    if (wanted == PLL_SW) { check_voltage(); }
    *cell(CFGR) = (*cell(CFGR) & ~(((1u << SW_BITS) - 1u) << SWS_AT)) | status << SWS_AT;
}
#endif

uint32_t get(uint32_t address)
{
    ++looks;
    return answer(address, *cell(address));
}

void set(uint32_t address, uint32_t value)
{
#if !NRF
    if (address == CFGR) {
        value = (value & ~(((1u << SW_BITS) - 1u) << SWS_AT)) | (*cell(CFGR) & ((1u << SW_BITS) - 1u) << SWS_AT);
    }
#endif
    *cell(address) = value;
#if !NRF
    if (address == CFGR) { check_switch(); }
#endif
    /* A switch that has not come is none: the processor still runs on what SWS says. */
#if !NRF
    if (field(CFGR, SWS_AT, SW_BITS) == field(CFGR, 0, SW_BITS))
#endif
    {
        require(can_wait(), "fewer wait states than the clock needs");
    }
}

static int start(int what)
{
    struct chip_clock clock;
    int failed;
    uint32_t divider;
    count = 0;
    looks = 0;
    stuck = what;
    broken = 0;
    after_reset();
    clock = chip_start();
    divider = (uint32_t)((clock.uart_hz + BOARD_BAUD / 2u) / BOARD_BAUD);
    failed = broken != 0 || clock.hz != hz() || clock.uart_hz != uart_hz() || looks > 2000000u ||
             (what == 0 ? clock.trouble != 0 || clock.hz != CHIP_HZ
                        : clock.trouble == 0 || !on_reset_clock() || clock.hz != BOARD_CLOCK_HZ);
    /* Within 2 %: what a receiver allows. */
    failed = failed || (uint64_t)clock.uart_hz * 100u > (uint64_t)divider * BOARD_BAUD * 102u ||
             (uint64_t)clock.uart_hz * 102u < (uint64_t)divider * BOARD_BAUD * 100u;
    printf("%s %d: %u Hz, UART of %u Hz, waits for %s, %llu looks%s%s\n", failed ? "FAILED" : "good", what,
           (unsigned)clock.hz, (unsigned)clock.uart_hz, clock.trouble ? clock.trouble : "nothing",
           (unsigned long long)looks, broken ? ", broken: " : "", broken ? broken : "");
    return failed;
}

int main(void)
{
    int failed = start(0), what;
    const unsigned all = things;
    for (what = 1; what < 32; ++what) {
        if ((all >> what & 1u) != 0u) { failed += start(what); }
    }
    return failed != 0;
}
