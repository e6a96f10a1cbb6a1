// SPDX-License-Identifier: Apache-2.0
/* Stands in for FreeRTOS's header of the same name. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef int BaseType_t;
typedef unsigned UBaseType_t;
#define pdPASS ((BaseType_t)1)
#define tskIDLE_PRIORITY ((UBaseType_t)0u)
