/* SPDX-License-Identifier: 0BSD */
/* Text and files of a host at the other end of the UART: serial_session.c. */
#ifndef INCLUDED_SERIAL_SESSION
#define INCLUDED_SERIAL_SESSION

#include <stdint.h>

/* 1 if a host that asked for a run has it; 0: it goes to the console. */
int serial_session_text(const char *text, uint32_t length);
void serial_session_open(int is_output);
/* 0 if exactly `bytes` bytes were moved. */
int serial_session_read(void *data, uint32_t bytes);
int serial_session_write(const void *data, uint32_t bytes);
/* Ends a run with an exit code, if there is one, and runs what a host asks for. After a fault that
 * is nothing, until the board has started again. Does not return. */
void serial_session_serve(int code, int has_faulted) __attribute__((noreturn));

#endif
