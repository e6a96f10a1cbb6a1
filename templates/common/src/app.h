/* SPDX-License-Identifier: 0BSD */
/* What this project puts around the model '@prefix@': its memory, stored inputs, a test of itself,
 * the time of each layer, and a demo that prints all of it. An application that only wants the
 * model takes @prefix@.h, @prefix@.c, @prefix@_data.h and @prefix@_data.c and leaves the rest. */
#ifndef @macro_prefix@_APP_H
#define @macro_prefix@_APP_H

#include "@prefix@.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Memory --------------------------------------------------------------------------------- */

/* What @prefix@_run takes as its third parameter: the arena, or pools. */
#ifdef @macro_prefix@_FOR_EACH_POOL
typedef const struct @prefix@_pools *@prefix@_memory_type;
#else
typedef void *@prefix@_memory_type;
#endif

/* The memory of this project. Inputs that lie in the arena are found by @prefix@_input_NAME of it:
 *     int8_t *input = @prefix@_input_NAME(@prefix@_memory()); */
@prefix@_memory_type @prefix@_memory(void);

/* An input or output of the model. */
struct @prefix@_tensor {
    void *data;
    uint32_t elements;
    uint32_t bytes;
    float scale; /* real value = (element - zero_point) * scale */
    int32_t zero_point;
    char kind; /* 'i' signed, 'u' unsigned, 'f' float */
};

/* By number, for code that is for any model. */
struct @prefix@_tensor @prefix@_app_input(uint32_t index);
struct @prefix@_tensor @prefix@_app_output(uint32_t index);
/* An element as a real number; an index beyond the end gives 0. */
float @prefix@_app_value(const struct @prefix@_tensor *tensor, uint32_t element);

/* What the model keeps from run to run, if it keeps anything, begins anew: the next run is a first run. */
void @prefix@_app_reset(void);

/* Runs the model on its inputs, with results in its outputs; the status of @prefix@_run. */
int32_t @prefix@_app_run(void);

/* --- Stored inputs -------------------------------------------------------------------------- */

#define @macro_prefix@_SAMPLE_COUNT @sample_count@

/* Copies a stored input to where the model takes its inputs: before every run. */
void @prefix@_load_sample(uint32_t index);

/* Copies bytes of the stored inputs, which lie one behind the other; 0 where there are none. */
void @prefix@_read_samples(uint32_t from, void *to, uint32_t bytes);

/* --- An input that is fed row by row -------------------------------------------------------- */

#ifdef @macro_prefix@_ROWS
/* @prefix@_begin with the memory and the outputs of this project, which are set to 0: @prefix@_row and
 * @prefix@_feed go on. What the model keeps from run to run stays. */
int32_t @prefix@_app_begin(struct @prefix@_context *run);

/* Of the bytes of all outputs, behind the checksum of what was there before: 0 at first. */
uint32_t @prefix@_app_checksum(uint32_t before);
#endif

/* --- Self test ------------------------------------------------------------------------------ */

/* 0 leaves out the self test and the times of layers, and with them the second copy of the code. */
#ifndef @macro_prefix@_SELF_TEST
#define @macro_prefix@_SELF_TEST 1
#endif

struct @prefix@_self_test_result {
    int32_t status;  /* of the run */
    int32_t layer;   /* the first whose result differs, counted as in @prefix@.c; -1: none */
    uint32_t layers; /* results that were compared */
    uint32_t exact;  /* of them, to the bit: floats behind exp or tanh have a tolerance */
};

/* Runs the model on the first stored input and compares every layer's result with what the
 * reference gave on the desktop. 0 if all agree; -1 if not, or if it is left out. */
int @prefix@_self_test(struct @prefix@_self_test_result *result);

/* Time of each layer for the first stored input, in units of @prefix@_port_now; the status of the
 * run. `times` has @macro_prefix@_CALL_COUNT elements. */
int32_t @prefix@_profile(uint64_t *times);

/* Copies the name of a layer, "CONV_2D 'name'", with its terminating null, cut to `size` bytes. */
void @prefix@_layer_name(int32_t layer, char *text, uint32_t size);

/* --- Demo ----------------------------------------------------------------------------------- */

/* Self test, times, predictions of the stored inputs, printed; 0 if all is well. The last line is
 * "@aotc done status=0", the status being what is returned. */
int @prefix@_demo(void);

#ifdef @macro_prefix@_ROWS
/* The same with what an example of feeding gives, 0 if the results are those of @prefix@_run, and how
 * many there were. Some kinds of projects have one, @prefix@_feed_demo: camera.c or microphone.c. */
int @prefix@_feed_demo(uint32_t *results);
int @prefix@_demo_with(int (*feed)(uint32_t *results));
#endif

/* What the demo and the times need of the application, which defines it. The counter runs freely
 * and does not wrap within hours; its unit is a plural, "cycles", "microseconds". */
void @prefix@_port_write(const char *text, uint32_t length);
uint64_t @prefix@_port_now(void);
const char *@prefix@_port_unit(void);

#ifdef __cplusplus
}
#endif

#endif
