/* SPDX-License-Identifier: 0BSD */
/* The pins as lines, "m-pin-NAME-LEVEL-ns-TIME", behind what caused them: for an interface board that
 * is a program. On a board of metal set and clear two outputs here, and let pins_tell do nothing. */
#include "streaming.h"

#define MOST_CHANGES 8u

static struct {
    enum pin which;
    int level;
    uint64_t time;
} changes[MOST_CHANGES];
static uint32_t count;

void pins_initialise(void) {}

void pin_set(enum pin which, int level)
{
    if (count == MOST_CHANGES) { return; }
    changes[count].which = which;
    changes[count].level = level;
    changes[count++].time = platform_clock_now();
}

void pins_tell(void)
{
    uint32_t i;
    for (i = 0; i < count; ++i) {
        put_text(changes[i].which == PIN_DETECTED ? "m-pin-detected-" : "m-pin-processing-");
        put_text(changes[i].level != 0 ? "1-ns-" : "0-ns-");
        put_numbered("", changes[i].time, "");
    }
    count = 0;
}
