/* SPDX-License-Identifier: 0BSD */
/* The model '@prefix@' (@model_title@) as an Arduino library. What a sketch needs is in the two
 * headers below: @prefix@.h is the model and @prefix@_app.h its memory, stored inputs and self test. */
#ifndef @macro_prefix@_LIBRARY_H
#define @macro_prefix@_LIBRARY_H

#include "@prefix@_app.h"

#ifdef __cplusplus
#include <Arduino.h>

/* Where @prefix@_demo() prints: Serial, unless this is called. */
void @prefix@_print_to(Print &printer);
#endif

#endif
