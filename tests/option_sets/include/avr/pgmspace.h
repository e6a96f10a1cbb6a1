/* SPDX-License-Identifier: Apache-2.0 */
/* avr-libc's accessors of program memory for a machine that has one memory: C for an AVR runs on the host. */
#ifndef PGMSPACE_H
#define PGMSPACE_H
#include <stdint.h>
#include <string.h>
#define PROGMEM
#define memcpy_P memcpy
#define pgm_read_byte(at) (*(const uint8_t *)(const void *)(at))
#define pgm_read_word(at) (*(const uint16_t *)(const void *)(at))
#define pgm_read_dword(at) (*(const uint32_t *)(const void *)(at))
#define pgm_read_float(at) (*(const float *)(const void *)(at))
#define pgm_read_ptr(at) (*(void *const *)(const void *)(at))
#endif
