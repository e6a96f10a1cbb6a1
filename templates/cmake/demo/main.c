/* SPDX-License-Identifier: 0BSD */
/* Runs the demo of the model '@prefix@' on the machine that built it: self test, time of each layer,
 * predictions of the stored inputs. For a board, write these three functions for it. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <time.h>

#include "@prefix@_app.h"

void @prefix@_port_write(const char *text, uint32_t length)
{
    (void)fwrite(text, 1, length, stdout);
}

uint64_t @prefix@_port_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const char *@prefix@_port_unit(void)
{
    return "nanoseconds";
}

int main(void)
{
    const int failed = @prefix@_demo();
    return fflush(stdout) == 0 && failed == 0 ? 0 : 1;
}
