/* SPDX-License-Identifier: 0BSD */
/* Binds the firmware to the model: benchmark.c says `..._of_model` and `..._OF_MODEL`. */
#ifndef INCLUDED_MODEL
#define INCLUDED_MODEL

#include "../model/@prefix@.h"

#define NAME_OF_MODEL "@prefix@"
#define ARENA_SIZE_OF_MODEL @macro_prefix@_ARENA_SIZE
#define ARENA_ALIGN_OF_MODEL @macro_prefix@_ARENA_ALIGN
#define INPUT_COUNT_OF_MODEL @macro_prefix@_INPUT_COUNT
#define OUTPUT_COUNT_OF_MODEL @macro_prefix@_OUTPUT_COUNT
/* 1 if they lie in the arena: inputs are filled before every run, which overwrites them. */
#define INPUT_IN_ARENA_OF_MODEL @macro_prefix@_INPUT_IN_ARENA
#define OUTPUT_IN_ARENA_OF_MODEL @macro_prefix@_OUTPUT_IN_ARENA
#define FOR_EACH_INPUT_OF_MODEL(X) @macro_prefix@_FOR_EACH_INPUT(X)
#define FOR_EACH_OUTPUT_OF_MODEL(X) @macro_prefix@_FOR_EACH_OUTPUT(X)
#define INPUT_OF_MODEL(field, arena) @prefix@_input_##field(arena)
#define OUTPUT_OF_MODEL(field, arena) @prefix@_output_##field(arena)

typedef struct @prefix@_inputs inputs_of_model;
typedef struct @prefix@_outputs outputs_of_model;
typedef int32_t (*run_function_of_model)(const inputs_of_model *, const outputs_of_model *, void *);

#define run_of_model @prefix@_run

/* A model that is fed frames and keeps its windows from one to the next. */
#ifdef @macro_prefix@_KEPT_SIZE
#define STREAMS_IN_TIME_OF_MODEL 1
typedef struct @prefix@_context context_of_model;
#define begin_of_model @prefix@_begin
#define row_of_model @prefix@_row
#define feed_of_model @prefix@_feed
#ifdef @macro_prefix@_MORE
#define MORE_OF_MODEL @macro_prefix@_MORE
#define step_of_model @prefix@_step
#endif
#else
#define STREAMS_IN_TIME_OF_MODEL 0
#endif

#endif
