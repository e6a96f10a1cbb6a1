/* SPDX-License-Identifier: 0BSD */
/* What the sources of this project need to know of the board. */
#ifndef INCLUDED_BOARD
#define INCLUDED_BOARD

#include <stdint.h>

#define BOARD_NAME "@board@"
#ifdef AOTC_STAND_IN
/* For another machine of an emulator with the same core, where only memory is where it is here. */
#define BOARD_UART_semihosting 1
#define BOARD_SEMIHOSTING 1
#else
/* Console: a UART that uart.h knows, or semihosting, which has no base. */
#define BOARD_UART_@uart_kind@ 1
#define BOARD_UART_BASE @uart_base@u
#define BOARD_BAUD @baud@u
/* 0 leaves out everything that needs a debugger or emulator: arguments, files, exit codes. */
#define BOARD_SEMIHOSTING @semihosting@
@chip_definitions@
#endif
#ifdef AOTC_STAND_IN
/* That machine counts instructions, and its counter has a rate of its own. */
#define BOARD_CLOCK_HZ @stand_in_hz@u
#define BOARD_CLOCK_IS_INSTRUCTIONS 1
#else
/* Rate of the counter that the clock reads after reset, in Hz; 0 if the counter counts instructions. */
#define BOARD_CLOCK_HZ @clock_hz@u
/* 1 if one instruction takes exactly one nanosecond, as in an emulator that counts them. */
#define BOARD_CLOCK_IS_INSTRUCTIONS @clock_is_instructions@
#endif

#ifdef BOARD_CHIP
extern uint32_t board_hz; /* of the clock that runs: chip.h */
#else
#define board_hz BOARD_CLOCK_HZ
#endif

#if defined(BOARD_UART_semihosting) && !BOARD_SEMIHOSTING
#error "console=semihosting stops a board that has no debugger: it goes with semihosting=true only"
#endif

#endif
