/* SPDX-License-Identifier: Apache-2.0 */
/* Reset of the program of operator cases: the FPU on, then newlib's start. With TRAP_UNALIGNED an access at an address
 * that is no multiple of its size is a fault. */
#include <stddef.h>
#include <stdint.h>

void _start(void);
void reset(void);
void __stack(void); /* the linker script's: where the stack begins */

/* Ends the emulator with 1: a program that waits here would look like a long one. */
static void stop(void)
{
    register uint32_t operation __asm("r0") = 4u; /* SYS_WRITE0 */
    register const void *argument __asm("r1") = "error: the processor stopped at a fault\n";
    __asm volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
    operation = 0x18u;                 /* SYS_EXIT */
    argument = (const void *)0x20023u; /* a run-time error */
    __asm volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
    for (;;) {}
}

#ifdef TRAP_UNALIGNED
/* newlib's copies read words at any address. */
#define BYTES __attribute__((optimize("no-tree-loop-distribute-patterns")))
void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);

BYTES void *memcpy(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; ++i) ((volatile unsigned char *)to)[i] = ((const unsigned char *)from)[i];
    return to;
}

BYTES void *memmove(void *to, const void *from, size_t bytes)
{
    if ((uintptr_t)to <= (uintptr_t)from) return memcpy(to, from, bytes);
    while (bytes-- > 0) ((volatile unsigned char *)to)[bytes] = ((const unsigned char *)from)[bytes];
    return to;
}
#endif

void reset(void)
{
#ifdef TRAP_UNALIGNED
    *(volatile uint32_t *)0xE000ED14u |= 1u << 3; /* UNALIGN_TRP */
#endif
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20;
    __asm volatile("dsb\n isb");
    _start();
}

typedef void (*vector)(void);
__attribute__((section(".vectors"), used)) static const vector vectors[] = {
    __stack, reset, stop, stop, stop, stop, stop,
};
