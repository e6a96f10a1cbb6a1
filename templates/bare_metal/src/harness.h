/* SPDX-License-Identifier: 0BSD */
/* What the parts of the harness know of each other.
 *
 * main.c is the same on every board. A platform (platform_host.c, or platform_bare.c with one
 * platform_<architecture>.c) gives it a console, files, a clock and a measured stack. Everything
 * streams: nothing here needs memory that grows with the size of a file. */
#ifndef INCLUDED_HARNESS
#define INCLUDED_HARNESS

#include <stdint.h>

#include "model.h"

/* main.c: argv[0] is ignored, argv[1] selects the mode. Returns the exit code. */
int harness_main(int argc, char **argv);

/* samples.c: sample_count times the bytes of every input in order; labels ends with a null. */
extern const uint32_t sample_count;
extern const uint32_t sample_bytes_size;
extern const uint8_t sample_bytes[];
extern const char *const labels[];

/* samples.c: the self test compares every layer's result for the first sample with the reference.
 * Begins as {0, 0, -1}; results may come in any order: a device's do when it is waited for. */
struct self_test {
    uint32_t compared;
    uint32_t exact; /* of them, to the bit: floats behind exp or tanh have a tolerance */
    int32_t first_difference; /* index of the call, -1: none */
};
extern const uint32_t self_test_count;
void self_test_result(struct self_test *test, int32_t call, int32_t result, const void *data,
                      uint32_t bytes);
const char *layer_name(int32_t layer);

/* An input or output of the model, and where it is. */
enum element_kind { ELEMENT_UNSIGNED, ELEMENT_SIGNED, ELEMENT_FLOAT };

struct tensor {
    const char *name;
    void *data;
    uint32_t elements;
    uint32_t bytes;
    float scale;
    int32_t zero_point;
    enum element_kind kind;
};

/* print.c: to the console, without stdio. Floats are rounded to six digits. */
void print_text(const char *text);
void print_u64(uint64_t value);
void print_i64(int64_t value);
void print_float(float value);
/* " key=value" */
void print_pair(const char *key, uint64_t value);
/* What an output of a sample says: a line for people, a line for programs. */
void print_output(uint32_t sample, const struct tensor *t);

/* Platform. */
#define PLATFORM_READ 0
#define PLATFORM_WRITE 1

void platform_console_write(const char *text, uint32_t length);
/* A handle, or a negative number if the file cannot be opened. */
intptr_t platform_open(const char *path, int mode);
/* 0 if exactly `bytes` bytes were moved. */
int platform_read(intptr_t file, void *data, uint32_t bytes);
int platform_write(intptr_t file, const void *data, uint32_t bytes);
int platform_close(intptr_t file);

/* A stop watch in units of PLATFORM_CLOCK_UNIT. Start is the last thing `restart` does and the
 * first thing `elapsed` looks at, so what either costs is a constant that a caller can measure.
 * From `restart` to `elapsed` the clock may interrupt; every `restart` needs its `elapsed`. */
void platform_clock_restart(void);
uint64_t platform_clock_elapsed(void);
const char *platform_clock_unit(void);

/* Nanoseconds (instructions, where these are counted) since some time before the first call, by a
 * counter that nothing stops and that never goes back. Not together with the stop watch. */
uint64_t platform_clock_now(void);

/* A function that returns at once, for measuring what a measurement costs: its length in units of
 * the clock is known. */
int32_t platform_empty_run(const inputs_of_model *inputs, const outputs_of_model *outputs,
                           void *arena);
extern const uint32_t platform_empty_run_length;

/* Calls `run` on a painted stack with interrupts off; returns the bytes of stack below the call
 * that it and its callees wrote to. */
uint32_t platform_stack_of(run_function_of_model run, const inputs_of_model *inputs,
                           const outputs_of_model *outputs, void *arena, int32_t *status);

const char *platform_board(void);
/* Of the processor, where a project sets it; 0 elsewhere. `trouble`: null, or what did not come when
 * it was to go faster. */
uint64_t platform_clock_hz(const char **trouble);

#endif
