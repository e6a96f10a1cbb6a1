// SPDX-License-Identifier: Apache-2.0
/* Stands in for ESP-IDF's header of the same name. */
#pragma once
#include <stdint.h>

int64_t esp_timer_get_time(void);
