// SPDX-License-Identifier: Apache-2.0
// The functions that the test's device serves, and what they leave behind.
#pragma once

#include <stdint.h>

#include <tvm/runtime/crt/module.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How often `count` was executed. */
extern uint32_t functions_counted;
/* The ticks of the device's clock: `spin` moves it. */
extern uint64_t functions_clock;

#ifdef __cplusplus
}
#endif
