// SPDX-License-Identifier: Apache-2.0
/* Stands in for FreeRTOS's header of the same name. */
#pragma once

typedef struct task *TaskHandle_t;
typedef void (*TaskFunction_t)(void *);

BaseType_t xTaskCreate(TaskFunction_t code, const char *name, uint32_t stack_bytes, void *argument,
                       UBaseType_t priority, TaskHandle_t *created);
void vTaskDelete(TaskHandle_t task);
