/* SPDX-License-Identifier: Apache-2.0 */
/* Reset of the program of operator cases: the FPU on, then newlib's start. */
#include <stdint.h>

void _start(void);
void reset(void);
void __stack(void); /* the linker script's: where the stack begins */

static void stop(void) {
    for (;;) {
    }
}

void reset(void) {
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20;
    __asm volatile("dsb\n isb");
    _start();
}

typedef void (*vector)(void);
__attribute__((section(".vectors"), used)) static const vector vectors[] = {
    __stack, reset, stop, stop, stop, stop, stop,
};
