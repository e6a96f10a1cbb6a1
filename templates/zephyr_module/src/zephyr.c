/* SPDX-License-Identifier: 0BSD */
/* What the model '@prefix@' needs of Zephyr: text, a clock, how much stack is left, and shell
 * commands if they are wanted. For Zephyr 2.5 and later: headers are below zephyr/ since 3.1. */
#include "@prefix@_zephyr.h"

#include <errno.h>

#include "@prefix@_app.h"

#if __has_include(<zephyr/kernel.h>)
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>
#else
#include <zephyr.h>
#include <sys/printk.h>
#endif

#if defined(CONFIG_@macro_prefix@_MODEL_TIMING_API)
#if __has_include(<zephyr/timing/timing.h>)
#include <zephyr/timing/timing.h>
#else
#include <timing/timing.h>
#endif
#endif

#if defined(CONFIG_@macro_prefix@_MODEL_SHELL)
#if __has_include(<zephyr/shell/shell.h>)
#include <zephyr/shell/shell.h>
#else
#include <shell/shell.h>
#endif

/* The shell whose command is running; without one text goes to printk. */
static const struct shell *asking_shell;
#endif

#if defined(CONFIG_LOG)
#if __has_include(<zephyr/logging/log.h>)
#include <zephyr/logging/log.h>
#else
#include <logging/log.h>
#endif
LOG_MODULE_REGISTER(@prefix@_model, CONFIG_@macro_prefix@_MODEL_LOG_LEVEL);
#else
#define LOG_ERR(...)
#endif

#if defined(CONFIG_@macro_prefix@_MODEL_USER_MODE)
K_APPMEM_PARTITION_DEFINE(@prefix@_partition);
#endif

int @prefix@_infer(void)
{
    const int32_t status = @prefix@_app_run();
    if (status == 0) { return 0; }
    LOG_ERR("a run of the model ended with status %d", (int)status);
    if (status == @macro_prefix@_ERROR_ARGUMENT) { return -EINVAL; }
#ifdef @macro_prefix@_ERROR_DATA
    if (status == @macro_prefix@_ERROR_DATA) { return -EDOM; }
#endif
    return -EIO;
}

static void write_line(const char *text)
{
#if defined(CONFIG_@macro_prefix@_MODEL_SHELL)
    if (asking_shell != NULL) {
        shell_fprintf(asking_shell, SHELL_NORMAL, "%s", text);
        return;
    }
#endif
    printk("%s", text);
}

/* In pieces that end with a null: not every printk takes "%.*s". */
void @prefix@_port_write(const char *text, uint32_t length)
{
    char piece[33];
    uint32_t used = 0;
    uint32_t at;
    for (at = 0; at < length; ++at) {
        piece[used++] = text[at];
        if (used + 1u < sizeof piece && at + 1u < length) { continue; }
        piece[used] = 0;
        write_line(piece);
        used = 0;
    }
}

/* --- Clock ---------------------------------------------------------------------------------- */

#if defined(CONFIG_@macro_prefix@_MODEL_TIMING_API)

static uint32_t counter(void)
{
    static int started;
    if (started == 0) {
        timing_init();
        timing_start();
        started = 1;
    }
    return (uint32_t)timing_counter_get();
}

uint32_t @prefix@_clock_hz(void)
{
    (void)counter();
    return (uint32_t)timing_freq_get();
}

#else

#if !defined(CONFIG_TIMER_HAS_64BIT_CYCLE_COUNTER)
static uint32_t counter(void)
{
    return k_cycle_get_32();
}
#endif

uint32_t @prefix@_clock_hz(void)
{
    return (uint32_t)sys_clock_hw_cycles_per_sec();
}

#endif

#if defined(CONFIG_TIMER_HAS_64BIT_CYCLE_COUNTER) &&                                               \
    !defined(CONFIG_@macro_prefix@_MODEL_TIMING_API)

uint64_t @prefix@_port_now(void)
{
    return k_cycle_get_64();
}

#else

/* The counter has 32 bits and wraps within minutes, or seconds. The uptime does not, but it is only
 * as fine as a tick. So the uptime says how many cycles went by since the last call, to within a
 * few ticks, and of all counts with the counter's 32 low bits the one that is nearest is taken: no
 * wrap is lost, however long ago the last call was. What is returned is exact to the cycle. */
uint64_t @prefix@_port_now(void)
{
    static uint64_t last;
    static uint64_t last_uptime; /* in cycles */
    const uint32_t hz = @prefix@_clock_hz();
    const uint64_t ticks = (uint64_t)k_uptime_ticks();
    const uint32_t ticks_per_second = CONFIG_SYS_CLOCK_TICKS_PER_SEC;
    const uint64_t uptime = ticks / ticks_per_second * hz + ticks % ticks_per_second * hz / ticks_per_second;
    const uint64_t about = last + (uptime - last_uptime);
    const int32_t off = (int32_t)(counter() - (uint32_t)about);
    last = about + (uint64_t)(int64_t)off;
    last_uptime = uptime;
    return last;
}

#endif

const char *@prefix@_port_unit(void)
{
    return "cycles";
}

/* --- Stack ---------------------------------------------------------------------------------- */

int32_t @prefix@_stack_unused(void)
{
#if defined(CONFIG_@macro_prefix@_MODEL_STACK_CHECK)
    size_t unused = 0;
    if (k_thread_stack_space_get(k_current_get(), &unused) == 0) { return (int32_t)unused; }
#endif
    return -1;
}

/* --- Shell ---------------------------------------------------------------------------------- */

#if defined(CONFIG_@macro_prefix@_MODEL_SHELL)

/* Not every printf has "%llu". */
static const char *decimal(uint64_t value)
{
    static char digits[21];
    uint32_t at = (uint32_t)sizeof digits - 1u;
    do {
        digits[--at] = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0u);
    return digits + at;
}

static void print_stack(const struct shell *sh)
{
    if (@prefix@_stack_unused() < 0) { return; }
    shell_fprintf(sh, SHELL_NORMAL, "stack: %d bytes were never used\n",
                  (int)@prefix@_stack_unused());
}

static int command_run(const struct shell *sh, size_t argc, char **argv)
{
    int failed;
    ARG_UNUSED(argc);
    ARG_UNUSED(argv);
    asking_shell = sh;
    failed = @prefix@_demo();
    asking_shell = NULL;
    print_stack(sh);
    return failed == 0 ? 0 : -EIO;
}

static int command_self_test(const struct shell *sh, size_t argc, char **argv)
{
    struct @prefix@_self_test_result result;
    char name[64];
    const int failed = @prefix@_self_test(&result);
    ARG_UNUSED(argc);
    ARG_UNUSED(argv);
    if (failed == 0) {
        shell_fprintf(sh, SHELL_NORMAL, "passed: %u results of layers, %u of them to the bit\n",
                      (unsigned)result.layers, (unsigned)result.exact);
    } else if (result.layer >= 0) {
        @prefix@_layer_name(result.layer, name, (uint32_t)sizeof name);
        shell_fprintf(sh, SHELL_NORMAL, "FAILED: the first layer that differs is %d, %s\n",
                      (int)result.layer, name);
    } else {
        shell_fprintf(sh, SHELL_NORMAL, "FAILED: status %d, %u results of layers\n",
                      (int)result.status, (unsigned)result.layers);
    }
    return failed == 0 ? 0 : -EIO;
}

static int command_profile(const struct shell *sh, size_t argc, char **argv)
{
    static uint64_t times[@macro_prefix@_CALL_COUNT + 1];
    char name[64];
    int32_t layer;
    const int32_t status = @prefix@_profile(times);
    ARG_UNUSED(argc);
    ARG_UNUSED(argv);
    for (layer = 0; layer < @macro_prefix@_CALL_COUNT; ++layer) {
        @prefix@_layer_name(layer, name, (uint32_t)sizeof name);
        shell_fprintf(sh, SHELL_NORMAL, "%d: %s cycles  %s\n", (int)layer, decimal(times[layer]),
                      name);
    }
    return status == 0 ? 0 : -EIO;
}

/* `run` does not have to be the word for two models in one firmware: the command is the prefix then. */
#ifndef @macro_prefix@_COMMAND
#define @macro_prefix@_COMMAND @prefix@
#endif

SHELL_STATIC_SUBCMD_SET_CREATE(
    model_commands,
    SHELL_CMD(run, NULL, "Self test, times and predictions of the stored inputs.", command_run),
    SHELL_CMD(self_test, NULL, "Compare each layer of the first stored input.", command_self_test),
    SHELL_CMD(profile, NULL, "Cycles of each layer.", command_profile),
    SHELL_SUBCMD_SET_END);
SHELL_CMD_REGISTER(@macro_prefix@_COMMAND, &model_commands, "The model @prefix@.", NULL);

#endif
