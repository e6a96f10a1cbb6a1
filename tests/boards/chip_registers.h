/* SPDX-License-Identifier: Apache-2.0 */
/* Registers for chip.h in a test: chip_test.c has them. */
#include <stdint.h>
uint32_t get(uint32_t address);
void set(uint32_t address, uint32_t value);
