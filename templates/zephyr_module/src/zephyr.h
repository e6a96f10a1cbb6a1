/* SPDX-License-Identifier: 0BSD */
/* The model '@prefix@' on Zephyr: what @prefix@_zephyr.c has beside the functions that
 * @prefix@_app.h asks of an application. */
#ifndef @macro_prefix@_ZEPHYR_H
#define @macro_prefix@_ZEPHYR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
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
