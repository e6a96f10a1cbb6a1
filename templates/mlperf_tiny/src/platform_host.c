/* SPDX-License-Identifier: 0BSD */
/* This machine as the board: the line is standard input and output, or with the argument `pty` a
 * terminal whose name is printed; the clock counts nanoseconds. */
#define _XOPEN_SOURCE 600

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "serial.h"

static int from_host = STDIN_FILENO;
static int to_host = STDOUT_FILENO;
/* Held open, so that the line outlives whoever uses it. */
static int other_end = -1;

static int open_terminal(void)
{
    struct termios raw;
    const char *name;
    from_host = posix_openpt(O_RDWR | O_NOCTTY);
    if (from_host < 0 || grantpt(from_host) != 0 || unlockpt(from_host) != 0) { return -1; }
    name = ptsname(from_host);
    other_end = name != 0 ? open(name, O_RDWR | O_NOCTTY) : -1;
    if (other_end < 0 || tcgetattr(other_end, &raw) != 0) { return -1; }
    raw.c_iflag = 0;
    raw.c_oflag = 0;
    raw.c_lflag = 0;
    if (tcsetattr(other_end, TCSANOW, &raw) != 0) { return -1; }
    to_host = from_host;
    return printf("%s\n", name) > 0 && fflush(stdout) == 0 ? 0 : -1;
}

void serial_initialise(void) {}

int serial_get(void)
{
    static uint8_t bytes[4096];
    static ssize_t count, at;
    static int has_booted;
    if (!has_booted && other_end >= 0) { (void)tcflush(other_end, TCIFLUSH); }
    has_booted = 1;
    if (at == count) {
        at = 0;
        count = read(from_host, bytes, sizeof bytes);
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
        const ssize_t written = write(to_host, bytes, count);
        if (written <= 0) { _exit(1); } /* nobody is there any more */
        bytes += written;
        count -= (uint32_t)written;
    }
}

uint64_t platform_clock_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const char *platform_board(void)
{
    return "host";
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "pty") == 0 && open_terminal() != 0) {
        perror("cannot open a terminal");
        return 1;
    }
    return harness_main(argc, argv);
}
