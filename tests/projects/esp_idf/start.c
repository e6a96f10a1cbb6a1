/* SPDX-License-Identifier: Apache-2.0 */
/* Runs app_main on the machine that tests: one task, in a thread with the stack that it asked for
 * and what the C library of this machine wants beside. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#define LIBRARY_STACK 65536u

void app_main(void);

static pthread_t thread;
static int started, ended;
static TaskFunction_t task_code;

int64_t esp_timer_get_time(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void *run(void *argument)
{
    task_code(argument);
    /* A task of FreeRTOS must not return. */
    (void)fputs("the task returned\n", stderr);
    return 0;
}

BaseType_t xTaskCreate(TaskFunction_t code, const char *name, uint32_t stack_bytes, void *argument,
                       UBaseType_t priority, TaskHandle_t *created)
{
    pthread_attr_t attributes;
    (void)name;
    (void)priority;
    (void)created;
    task_code = code;
    if (started || pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstacksize(&attributes, stack_bytes + LIBRARY_STACK) != 0 ||
        pthread_create(&thread, &attributes, run, argument) != 0) {
        return 0;
    }
    started = 1;
    return pdPASS;
}

void vTaskDelete(TaskHandle_t task)
{
    (void)task;
    ended = 1;
    pthread_exit(0);
}

int main(void)
{
    app_main();
    if (!started) { return 1; }
    (void)pthread_join(thread, 0);
    return ended ? 0 : 1;
}
