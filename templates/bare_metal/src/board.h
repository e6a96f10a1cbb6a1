/* SPDX-License-Identifier: 0BSD */
/* What the sources of this project need to know of the board. */
#ifndef INCLUDED_BOARD
#define INCLUDED_BOARD

#define BOARD_NAME "@board@"
/* Console: one of cmsdk, nrf51, ns16550, semihosting; the base is unused by the last. */
#define BOARD_UART_@uart_kind@ 1
#define BOARD_UART_BASE @uart_base@u
/* Rate of the counter that the clock reads, in Hz; 0 if the counter counts instructions. */
#define BOARD_CLOCK_HZ @clock_hz@u
/* 1 if one instruction takes exactly one nanosecond, as in an emulator that counts them. */
#define BOARD_CLOCK_IS_INSTRUCTIONS @clock_is_instructions@
/* 0 leaves out everything that needs a debugger or emulator: arguments, files, exit codes. */
#define BOARD_SEMIHOSTING @semihosting@

#endif
