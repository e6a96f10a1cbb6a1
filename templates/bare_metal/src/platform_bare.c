/* SPDX-License-Identifier: 0BSD */
/* The platform of a board without an operating system: console on a UART, files and exit codes
 * through semihosting, and the stack that board.ld reserves. What differs between processors is
 * behind the functions declared next. */
#include <string.h>

#include "board.h"
#include "harness.h"
#include "uart.h"
#ifdef BOARD_CHIP
#include "chip.h"
#endif
/* A project that has serial_session.c is built with it, but for an emulator's stand-in. */
#if defined(AOTC_SERIAL) && !BOARD_SEMIHOSTING
#define AOTC_SERIAL_SESSION 1
#include "serial_session.h"
#endif

/* From platform_<architecture>.c. */
intptr_t semihosting_call(uint32_t operation, const void *argument);
void clock_initialise(void);

/* Called by platform_<architecture>.c. */
void platform_start(void) __attribute__((noreturn));
void platform_exit(uint32_t code) __attribute__((noreturn));

/* From board.ld. */
extern uint32_t __stack_bottom[], __data_start[], __data_end[], __bss_start[], __bss_end[];
extern const uint32_t __data_load[];
/* Of memories beside the one of variables: where their content is, and from where to where it goes. */
extern const struct memory_content {
    uint32_t load, start, end;
} __memories[], __memories_end[];

#define EXIT_FAULT 3u
#define STACK_PAINT 0xC5C5C5C5u

#define SYS_OPEN 0x01u
#define SYS_CLOSE 0x02u
#define SYS_WRITE0 0x04u
#define SYS_WRITE 0x05u
#define SYS_READ 0x06u
#define SYS_GET_CMDLINE 0x15u
#define SYS_EXIT_EXTENDED 0x20u
#define APPLICATION_EXIT 0x20026u

const uint32_t platform_empty_run_length = BOARD_CLOCK_IS_INSTRUCTIONS;

/* --- Console -------------------------------------------------------------------------------- */

#if defined(BOARD_UART_semihosting)

static void console_initialise(uint32_t hz) { (void)hz; }

static void console_put(char c)
{
    const char text[2] = {c, 0};
    (void)semihosting_call(SYS_WRITE0, text);
}

#else

static void console_initialise(uint32_t hz) { uart_start(hz); }
static void console_put(char c) { uart_put((uint8_t)c); }

#endif

void platform_console_write(const char *text, uint32_t length)
{
    uint32_t i;
#ifdef AOTC_SERIAL_SESSION
    if (serial_session_text(text, length) != 0) { return; }
#endif
    for (i = 0; i < length; ++i) {
        if (text[i] == '\n') { console_put('\r'); }
        console_put(text[i]);
    }
}

/* --- Files, arguments, exit ----------------------------------------------------------------- */

#if BOARD_SEMIHOSTING

intptr_t platform_open(const char *path, int mode)
{
    const uintptr_t block[3] = {(uintptr_t)path, mode == PLATFORM_WRITE ? 5u : 1u, strlen(path)};
    return semihosting_call(SYS_OPEN, block);
}

int platform_read(intptr_t file, void *data, uint32_t bytes)
{
    const uintptr_t block[3] = {(uintptr_t)file, (uintptr_t)data, bytes};
    return semihosting_call(SYS_READ, block) == 0 ? 0 : -1;
}

int platform_write(intptr_t file, const void *data, uint32_t bytes)
{
    const uintptr_t block[3] = {(uintptr_t)file, (uintptr_t)data, bytes};
    return semihosting_call(SYS_WRITE, block) == 0 ? 0 : -1;
}

int platform_close(intptr_t file)
{
    const uintptr_t block[1] = {(uintptr_t)file};
    return semihosting_call(SYS_CLOSE, block) == 0 ? 0 : -1;
}

#define ARGUMENT_COUNT 8
static char command_line[512];

static int split_arguments(char **argv)
{
    const uintptr_t block[2] = {(uintptr_t)command_line, sizeof command_line};
    char *at = command_line;
    int argc = 0;
    if (semihosting_call(SYS_GET_CMDLINE, block) != 0) { return 0; }
    while (argc < ARGUMENT_COUNT) {
        while (*at == ' ') { *at++ = 0; }
        if (*at == 0) { break; }
        argv[argc++] = at;
        while (*at != 0 && *at != ' ') { ++at; }
    }
    return argc;
}

void platform_exit(uint32_t code)
{
    const uintptr_t block[2] = {APPLICATION_EXIT, code};
    (void)semihosting_call(SYS_EXIT_EXTENDED, block);
    for (;;) {}
}

#elif defined(AOTC_SERIAL_SESSION)

#define ARGUMENT_COUNT 1

intptr_t platform_open(const char *path, int mode)
{
    (void)path;
    serial_session_open(mode == PLATFORM_WRITE);
    return mode;
}
int platform_read(intptr_t file, void *data, uint32_t bytes)
{
    (void)file;
    return serial_session_read(data, bytes);
}
int platform_write(intptr_t file, const void *data, uint32_t bytes)
{
    (void)file;
    return serial_session_write(data, bytes);
}
int platform_close(intptr_t file) { (void)file; return 0; }
static int split_arguments(char **argv) { (void)argv; return 0; }
void platform_exit(uint32_t code) { serial_session_serve((int)code, code == EXIT_FAULT); }

#else

#define ARGUMENT_COUNT 1

intptr_t platform_open(const char *path, int mode) { (void)path; (void)mode; return -1; }
int platform_read(intptr_t file, void *data, uint32_t bytes)
{
    (void)file; (void)data; (void)bytes;
    return -1;
}
int platform_write(intptr_t file, const void *data, uint32_t bytes)
{
    (void)file; (void)data; (void)bytes;
    return -1;
}
int platform_close(intptr_t file) { (void)file; return -1; }
static int split_arguments(char **argv) { (void)argv; return 0; }
void platform_exit(uint32_t code) { (void)code; for (;;) {} }

#endif

/* --- Stack ---------------------------------------------------------------------------------- */

static inline uint32_t *stack_pointer(void)
{
    uint32_t *sp;
#if defined(__riscv)
    __asm__ volatile("mv %0, sp" : "=r"(sp)::"memory");
#else
    __asm__ volatile("mov %0, sp" : "=r"(sp)::"memory");
#endif
    return sp;
}

uint32_t platform_stack_of(run_function_of_model run, const inputs_of_model *inputs,
                           const outputs_of_model *outputs, void *arena, int32_t *status)
{
    /* Nothing may be called between here and the run: painting goes right up to the pointer. */
    uint32_t *const top = stack_pointer();
    volatile uint32_t *at;
    for (at = __stack_bottom; at < top; ++at) { *at = STACK_PAINT; }
    *status = run(inputs, outputs, arena);
    for (at = __stack_bottom; at < top && *at == STACK_PAINT; ++at) {}
    return (uint32_t)((uintptr_t)top - (uintptr_t)at);
}

/* --- Start ---------------------------------------------------------------------------------- */

const char *platform_clock_unit(void)
{
    return BOARD_CLOCK_IS_INSTRUCTIONS ? "instructions" : "nanoseconds";
}

const char *platform_board(void)
{
    return BOARD_NAME;
}

#ifdef BOARD_CHIP

uint32_t board_hz;
static const char *clock_trouble;

static void start_chip(void)
{
    const struct chip_clock clock = chip_start();
    board_hz = clock.hz;
    clock_trouble = clock.trouble;
    console_initialise(clock.uart_hz);
}

uint64_t platform_clock_hz(const char **trouble)
{
    *trouble = clock_trouble;
    return board_hz;
}

#else

static void start_chip(void) { console_initialise(BOARD_CLOCK_HZ); }

uint64_t platform_clock_hz(const char **trouble)
{
    *trouble = 0;
    return 0u;
}

#endif

#ifdef BOARD_UART_nrf_uarte
volatile uint8_t uart_in, uart_out;
#endif

#ifdef BOARD_MEMORY_SETUP
void board_memory_setup(void); /* memory_setup.c */
#endif

void platform_start(void)
{
    char *argv[ARGUMENT_COUNT];
    const struct memory_content *m;
#ifdef BOARD_MEMORY_SETUP
    board_memory_setup();
#endif
    (void)memcpy(__data_start, __data_load,
                 (size_t)((uintptr_t)__data_end - (uintptr_t)__data_start));
    for (m = __memories; m != __memories_end; ++m) {
        (void)memcpy((void *)(uintptr_t)m->start, (const void *)(uintptr_t)m->load,
                     (size_t)(m->end - m->start));
    }
    (void)memset(__bss_start, 0, (size_t)((uintptr_t)__bss_end - (uintptr_t)__bss_start));
    start_chip();
    clock_initialise();
    platform_exit((uint32_t)harness_main(split_arguments(argv), argv));
}

/* `where` is the program counter at the fault. */
void platform_fault(uintptr_t where, uintptr_t cause);
void platform_fault(uintptr_t where, uintptr_t cause)
{
    print_text("\nfault at address ");
    print_u64(where);
    print_text(", cause ");
    print_u64(cause);
    print_text("; a stack overflow looks like this, see stack_size\n@aotc error=fault\n");
    platform_exit(EXIT_FAULT);
}
