// SPDX-License-Identifier: Apache-2.0
/* The few names of Zephyr that platform_zephyr.c uses; time is what the test says. */
#include <stdint.h>

#define CONFIG_BOARD "stand_in"
#define CONFIG_SYS_CLOCK_TICKS_PER_SEC 10000

uint32_t k_cycle_get_32(void);
int64_t k_uptime_ticks(void);
int sys_clock_hw_cycles_per_sec(void);
