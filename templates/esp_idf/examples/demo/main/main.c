/* SPDX-License-Identifier: 0BSD */
/* Runs the demo of the model '@prefix@': self test, time of each layer, predictions of the stored
 * inputs, on the console. The model has a task of its own, with the stack that it needs. */
#include <stdio.h>

#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#include "@prefix@_app.h"

/* What a run takes, and what printing does around it. ESP-IDF counts stacks in bytes. */
#define STACK_BYTES (@model_stack@ + 4096)

void @prefix@_port_write(const char *text, uint32_t length)
{
    (void)fwrite(text, 1, length, stdout);
}

uint64_t @prefix@_port_now(void)
{
    return (uint64_t)esp_timer_get_time();
}

const char *@prefix@_port_unit(void)
{
    return "microseconds";
}

static void run_demo(void *unused)
{
    (void)unused;
    (void)@prefix@_demo();
    (void)fflush(stdout);
    vTaskDelete(NULL);
}

void app_main(void)
{
    if (xTaskCreate(run_demo, "@prefix@", STACK_BYTES, NULL, tskIDLE_PRIORITY + 1, NULL) != pdPASS) {
        (void)printf("no memory for a task with %d bytes of stack\n", (int)STACK_BYTES);
    }
}
