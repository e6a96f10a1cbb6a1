/* SPDX-License-Identifier: Apache-2.0 */
/* The 64-bit count of PREFIX_zephyr.c, out of a simulated counter of 32 bits and an uptime in ticks:
 * the difference of two looks must be what went by, to the cycle, whatever it was. Includes the file
 * itself: the counter is under this file's control. */
#include <inttypes.h>
#include <stdio.h>

#include SOURCE

/* Of the model, which is not here. */
int32_t digits_app_run(void)
{
    return 0;
}

static uint64_t cycles;
static uint32_t first; /* what the counter showed at the start */
static uint32_t hz, ticks_late;

void printk(const char *format, ...)
{
    (void)format;
}

uint32_t k_cycle_get_32(void)
{
    return (uint32_t)cycles + first;
}

/* A tick may be announced late. */
int64_t k_uptime_ticks(void)
{
    const int64_t ticks = (int64_t)(cycles / hz * CONFIG_SYS_CLOCK_TICKS_PER_SEC +
                                    cycles % hz * CONFIG_SYS_CLOCK_TICKS_PER_SEC / hz);
    return ticks > (int64_t)ticks_late ? ticks - (int64_t)ticks_late : 0;
}

int sys_clock_hw_cycles_per_sec(void)
{
    return (int)hz;
}

struct k_thread *k_current_get(void)
{
    return NULL;
}

int digits_demo(void)
{
    return 0;
}

int main(void)
{
    static const uint32_t rates[] = {32768, 10000000, 25000000, 168000000, 2000000000};
    static const uint32_t starts[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF0000};
    uint64_t random = 1, looks = 0, wraps = 0;
    unsigned r, s, look;
    for (r = 0; r < sizeof rates / sizeof *rates; ++r) {
        for (s = 0; s < sizeof starts / sizeof *starts; ++s) {
            uint64_t before, went;
            hz = rates[r];
            first = starts[s];
            before = digits_port_now();
            for (look = 0; look < 20000; ++look) {
                uint64_t now;
                random = random * 6364136223846793005u + 1442695040888963407u;
                /* From nothing to days; no clock is set back between the rounds. */
                went = (random >> 24) >> (random >> 58 & 31);
                if (went > (uint64_t)hz * 86400u) { went %= (uint64_t)hz * 86400u; }
                wraps += went >> 32;
                cycles += went;
                ticks_late = (uint32_t)(random >> 20 & 1);
                now = digits_port_now();
                ++looks;
                if (now - before != went) {
                    printf("at %" PRIu32 " Hz, counter from %" PRIu32 ": %" PRIu64
                           " cycles went by, %" PRIu64 " were counted\n",
                           hz, first, went, now - before);
                    return 1;
                }
                before = now;
            }
        }
    }
    printf("%" PRIu64 " looks at the clock, %" PRIu64 " wraps\n", looks, wraps);
    return wraps > 1000 ? 0 : 1;
}
