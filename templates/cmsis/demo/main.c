/* SPDX-License-Identifier: 0BSD */
/* Runs the demo of the model '@prefix@' on a Cortex-M: self test, time of each layer, predictions of
 * the stored inputs. Text goes to the standard output of the C library, which the device's pack or
 * the debugger has to lead somewhere. Nothing here is of a device: SysTick is of the core. */
#include <stdio.h>

#include "@prefix@_app.h"

#define SYSTICK_CONTROL (*(volatile uint32_t *)0xE000E010u)
#define SYSTICK_RELOAD (*(volatile uint32_t *)0xE000E014u)
#define SYSTICK_VALUE (*(volatile uint32_t *)0xE000E018u)
#define PERIOD 0x1000000u

static volatile uint32_t periods;

/* The startup code of every pack calls it by this name. */
void SysTick_Handler(void);

void SysTick_Handler(void)
{
    ++periods;
}

/* Counts down 24 bits of the processor's clock and counts its periods. */
static void start_clock(void)
{
    SYSTICK_RELOAD = PERIOD - 1u;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 7u; /* processor clock, interrupt, on */
}

void @prefix@_port_write(const char *text, uint32_t length)
{
    (void)fwrite(text, 1, length, stdout);
}

uint64_t @prefix@_port_now(void)
{
    uint32_t before, value;
    do {
        before = periods;
        value = SYSTICK_VALUE;
    } while (before != periods);
    /* The interrupt comes when it reaches 0: that is the first cycle of the next period. */
    return (uint64_t)before * PERIOD + (value == 0u ? 0u : PERIOD - value);
}

const char *@prefix@_port_unit(void)
{
    return "cycles";
}

int main(void)
{
    int failed;
    start_clock();
    failed = @prefix@_demo();
    (void)fflush(stdout);
    return failed == 0 ? 0 : 1;
}
