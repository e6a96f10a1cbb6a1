// SPDX-License-Identifier: Apache-2.0
/* One call of a microkernel, made twice: by its assembly and by its meaning in portable C. Both work on
 * copies of the same buffers, which must be equal afterwards, and so must what lies behind them. */
#ifndef KERNEL_CASE_H
#define KERNEL_CASE_H

#include <stdint.h>

/* Not every compiler for the core comes with a C library. */
void* memcpy(void* to, const void* from, __SIZE_TYPE__ count);

struct kernel_buffer {
  const uint32_t* data; /* null: not one of the arguments */
  uint32_t bytes;
  uint32_t from; /* the argument points there */
};

struct kernel_case {
  const char* name;
  void (*assembly)(uint8_t* const* buffers, const int32_t* scalars);
  void (*portable)(uint8_t* const* buffers, const int32_t* scalars);
  struct kernel_buffer buffers[4];
  int32_t scalars[4];
};

extern const struct kernel_case kernel_cases[];
extern const int32_t kernel_case_count;

#endif
