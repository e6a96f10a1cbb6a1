/* SPDX-License-Identifier: 0BSD */
/* This machine as the board: the line is standard input and output, the clock counts
 * nanoseconds (good for comparing, not exact). */
#define _POSIX_C_SOURCE 200809L

#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "serial.h"

static uint64_t clock_start;

void serial_initialise(void) {}

int serial_get(void)
{
    static uint8_t bytes[4096];
    static ssize_t count, at;
    if (at == count) {
        at = 0;
        count = read(STDIN_FILENO, bytes, sizeof bytes);
        if (count <= 0) {
            count = 0;
            return -1;
        }
    }
    return bytes[at++];
}

void serial_put(const uint8_t *bytes, uint32_t count)
{
    while (count != 0u) {
        const ssize_t written = write(STDOUT_FILENO, bytes, count);
        if (written <= 0) { _exit(1); } /* nobody is there any more */
        bytes += written;
        count -= (uint32_t)written;
    }
}

static uint64_t nanoseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void platform_clock_restart(void)
{
    clock_start = nanoseconds();
}

uint64_t platform_clock_elapsed(void)
{
    return nanoseconds() - clock_start;
}

const char *platform_board(void)
{
    return "host";
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv);
}
