/* SPDX-License-Identifier: 0BSD */
/* Binds the firmware to the model: benchmark.c says `model_...` and `MODEL_...`. */
#ifndef MODEL_H
#define MODEL_H

#include "@prefix@.h"

#define MODEL_NAME "@prefix@"
#define MODEL_ARENA_SIZE @macro_prefix@_ARENA_SIZE
#define MODEL_ARENA_ALIGN @macro_prefix@_ARENA_ALIGN
#define MODEL_INPUT_COUNT @macro_prefix@_INPUT_COUNT
#define MODEL_OUTPUT_COUNT @macro_prefix@_OUTPUT_COUNT
/* 1 if they lie in the arena: inputs are filled before every run, which overwrites them. */
#define MODEL_INPUT_IN_ARENA @macro_prefix@_INPUT_IN_ARENA
#define MODEL_OUTPUT_IN_ARENA @macro_prefix@_OUTPUT_IN_ARENA
#define MODEL_FOR_EACH_INPUT(X) @macro_prefix@_FOR_EACH_INPUT(X)
#define MODEL_FOR_EACH_OUTPUT(X) @macro_prefix@_FOR_EACH_OUTPUT(X)
#define MODEL_INPUT(field, arena) @prefix@_input_##field(arena)
#define MODEL_OUTPUT(field, arena) @prefix@_output_##field(arena)

typedef struct @prefix@_inputs model_inputs;
typedef struct @prefix@_outputs model_outputs;
typedef int32_t (*model_run_function)(const model_inputs *, const model_outputs *, void *);

#define model_run @prefix@_run

#endif
