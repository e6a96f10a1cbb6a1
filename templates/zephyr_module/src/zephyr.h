/* SPDX-License-Identifier: 0BSD */
/* The model '@prefix@' on Zephyr: what @prefix@_zephyr.c has beside the functions that
 * @prefix@_app.h asks of an application. */
#ifndef @macro_prefix@_ZEPHYR_H
#define @macro_prefix@_ZEPHYR_H

#include <stdint.h>

#if defined(CONFIG_@macro_prefix@_MODEL_USER_MODE)
#if __has_include(<zephyr/app_memory/app_memdomain.h>)
#include <zephyr/app_memory/app_memdomain.h>
#else
#include <app_memory/app_memdomain.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the model on its inputs, as @prefix@_app_run does. 0, or as errno has it: -EINVAL for memory that is
 * not aligned as the model wants it, -EDOM for data that an operator is not defined for, -EIO for
 * what an operator of yours reported. A failure is logged. */
int @prefix@_infer(void);

#if defined(CONFIG_@macro_prefix@_MODEL_USER_MODE)
/* Arena, inputs, outputs and state: what the memory domain of a user thread that calls @prefix@_infer
 * must have. The self test, times and shell are for the kernel's threads. */
extern struct k_mem_partition @prefix@_partition;
#endif

/* Cycles per second of the clock that @prefix@_port_now reads. */
uint32_t @prefix@_clock_hz(void);

/* Bytes of the calling thread's stack that nothing has written yet; -1 if that is not known, which
 * takes CONFIG_@macro_prefix@_MODEL_STACK_CHECK. */
int32_t @prefix@_stack_unused(void);

#ifdef __cplusplus
}
#endif

#endif
