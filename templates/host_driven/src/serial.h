/* SPDX-License-Identifier: 0BSD */
/* The line to the host: bytes as they are, both ways. */
#ifndef INCLUDED_SERIAL
#define INCLUDED_SERIAL

#include <stdint.h>

void serial_initialise(void);
/* Waits for a byte; negative when there will be no more. */
int serial_get(void);
void serial_put(const uint8_t *bytes, uint32_t count);

#endif
