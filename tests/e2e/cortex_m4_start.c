/* SPDX-License-Identifier: Apache-2.0 */
/* Reset of the program of operator cases: the FPU on, then newlib's start. */
#include <stdint.h>

void _start(void);
void reset(void);
void __stack(void); /* the linker script's: where the stack begins */

/* Ends the emulator with 1: a program that waits here would look like a long one. */
static void stop(void) {
    register uint32_t operation __asm("r0") = 4u; /* SYS_WRITE0 */
    register const void *argument __asm("r1") = "error: the processor stopped at a fault\n";
    __asm volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
    operation = 0x18u; /* SYS_EXIT */
    argument = (const void *)0x20023u; /* a run-time error */
    __asm volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
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
