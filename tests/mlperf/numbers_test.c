/* SPDX-License-Identifier: Apache-2.0 */
/* How the firmware prints floats and quantises them, over its standard input: lines "f BITS" and
 * "q BITS", a float's bits in hexadecimal; built with the sources of a project for the host. */
#include <stdio.h>

#include "benchmark.c"

uint64_t platform_clock_now(void)
{
    return 0;
}

const char *platform_board(void)
{
    return "";
}

void serial_initialise(void) {}

int serial_get(void)
{
    return -1;
}

void serial_put(const uint8_t *bytes, uint32_t count)
{
    (void)fwrite(bytes, 1, count, stdout);
}

int main(void)
{
    /* Steps of a half and a zero point, as a tensor may have them. */
    struct tensor half = {"half", 0, 1, 1, 0.5f, 3, ELEMENT_SIGNED};
    struct tensor unsigned_half = {"half", 0, 1, 1, 0.5f, 128, ELEMENT_UNSIGNED};
    uint32_t bits;
    char kind;
    while (scanf(" %c %x", &kind, &bits) == 2) {
        float value;
        (void)memcpy(&value, &bits, sizeof value);
        if (kind == 'f') {
            put_float(value);
        } else {
            (void)printf("%d %d", (int)quantised(value, &half),
                         (int)quantised(value, &unsigned_half));
        }
        (void)puts("");
    }
    (void)harness_main;
    return 0;
}
