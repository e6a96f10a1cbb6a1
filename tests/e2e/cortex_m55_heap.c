/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of programs that open files on mps3-an547. newlib asks the emulator for its limits, and finds none there. */
#include <stddef.h>

extern char end; /* the linker script's: behind all data */
void *_sbrk(ptrdiff_t bytes);

void *_sbrk(ptrdiff_t bytes)
{
    static char *next = &end;
    char *begin = next;
    next += bytes;
    return begin;
}
