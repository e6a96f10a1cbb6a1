// SPDX-License-Identifier: Apache-2.0
/* Stand-ins for what the Zephyr templates use of Zephyr: declarations with the names and types that
 * Zephyr has, by which their C compiles and runs without a tree. include/old and include/new have
 * the names of the headers before and since 3.1. */
#ifndef STAND_IN_H
#define STAND_IN_H

#include <stddef.h>
#include <stdint.h>

#define ARG_UNUSED(x) (void)(x)

void printk(const char *format, ...) __attribute__((format(printf, 1, 2)));

uint32_t k_cycle_get_32(void);
int64_t k_uptime_ticks(void);
int sys_clock_hw_cycles_per_sec(void);
#if defined(CONFIG_TIMER_HAS_64BIT_CYCLE_COUNTER)
uint64_t k_cycle_get_64(void);
#endif

struct k_thread;
struct k_thread *k_current_get(void);
#if defined(CONFIG_INIT_STACKS) && defined(CONFIG_THREAD_STACK_INFO)
int k_thread_stack_space_get(const struct k_thread *thread, size_t *unused_ptr);
#endif

#if defined(CONFIG_TIMING_FUNCTIONS)
typedef uint64_t timing_t;
void timing_init(void);
void timing_start(void);
timing_t timing_counter_get(void);
uint64_t timing_freq_get(void);
#endif

#if defined(CONFIG_SHELL)
struct shell;
enum shell_vt100_color { SHELL_NORMAL };
void shell_fprintf(const struct shell *sh, enum shell_vt100_color color, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct shell_static_entry {
    const char *syntax;
    const char *help;
    int (*handler)(const struct shell *sh, size_t argc, char **argv);
};
extern const char *const stand_in_command;
extern const struct shell_static_entry *const stand_in_commands;

#define SHELL_CMD(name, subcommands, help_, handler_) {#name, help_, handler_}
#define SHELL_SUBCMD_SET_END {NULL, NULL, NULL}
#define SHELL_STATIC_SUBCMD_SET_CREATE(name, ...)                                                  \
    static const struct shell_static_entry name[] = {__VA_ARGS__}
#define STAND_IN_TEXT(name) #name
#define SHELL_CMD_REGISTER(name, subcommands, help, handler)                                       \
    const char *const stand_in_command = STAND_IN_TEXT(name);                                      \
    const struct shell_static_entry *const stand_in_commands = *(subcommands)
#endif

#endif
