// SPDX-License-Identifier: Apache-2.0
/* Semihosting of an emulated Arm board: ends the emulator, prints a line. */
#ifndef TESTS_CRT_BOARD_IO_H_
#define TESTS_CRT_BOARD_IO_H_

#include <stdint.h>

static inline void semihost(uint32_t number, const void *block) {
    register uint32_t operation __asm__("r0") = number;
    register const void *argument __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
}

/* SYS_EXIT_EXTENDED with ADP_Stopped_ApplicationExit. */
static inline void exit_board(uint32_t status) {
    uint32_t block[2];
    block[0] = 0x20026u;
    block[1] = status;
    for (;;) {
        semihost(0x20u, block);
    }
}

/* "NAME VALUE" on a line of its own. */
static inline void print_number(const char *name, uint32_t value) {
    char digits[12];
    int at = 11;
    digits[at] = '\0';
    digits[--at] = '\n';
    do {
        digits[--at] = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0);
    semihost(0x04u, name);
    semihost(0x04u, " ");
    semihost(0x04u, digits + at);
}

#endif /* TESTS_CRT_BOARD_IO_H_ */
