/* SPDX-License-Identifier: Apache-2.0 */
/* Reset on mps2-an386 with the vectors that a device pack would bring: SysTick by its usual name,
 * the FPU on, then newlib's start, whose output is semihosting. Linked by tests/e2e/cortex_m4.ld. */
#include <stdint.h>

void _start(void);
void reset(void);
void __stack(void); /* the linker script's: where the stack begins */
void SysTick_Handler(void);

static void stop(void)
{
    for (;;) {
    }
}

void reset(void)
{
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20;
    __asm volatile("dsb\n isb");
    _start();
}

typedef void (*vector)(void);
__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    __stack, reset, stop, stop, stop, stop, stop, 0, 0, 0, 0, stop, stop, 0, stop, SysTick_Handler,
};
