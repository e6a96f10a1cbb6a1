/* SPDX-License-Identifier: 0BSD */
/* Binds the harness to the model: every other source file says `model_...` and `MODEL_...`.
 *
 * The model is compiled twice: as it is (what an application would link, and what is measured),
 * and, unless AOTC_VERIFY is off, a second time with its trace hook on and its run function
 * renamed, so that tracing costs the measured code nothing. */
#ifndef MODEL_H
#define MODEL_H

#if AOTC_VERIFY
#define @macro_prefix@_TRACE
#endif
#include "@prefix@.h"

#define MODEL_NAME "@prefix@"
#define MODEL_ARENA_SIZE @macro_prefix@_ARENA_SIZE
#define MODEL_ARENA_ALIGN @macro_prefix@_ARENA_ALIGN
#define MODEL_INPUT_COUNT @macro_prefix@_INPUT_COUNT
#define MODEL_OUTPUT_COUNT @macro_prefix@_OUTPUT_COUNT
#define MODEL_CALL_COUNT @macro_prefix@_CALL_COUNT
/* 1 if they lie in the arena: inputs are filled before every run, which overwrites them. */
#define MODEL_INPUT_IN_ARENA @macro_prefix@_INPUT_IN_ARENA
#define MODEL_OUTPUT_IN_ARENA @macro_prefix@_OUTPUT_IN_ARENA
#define MODEL_FOR_EACH_INPUT(X) @macro_prefix@_FOR_EACH_INPUT(X)
#define MODEL_FOR_EACH_OUTPUT(X) @macro_prefix@_FOR_EACH_OUTPUT(X)

/* A model that allocates at run time: from the runtime's stack, whose high water is known. */
#ifdef @macro_prefix@_WORKSPACE_SIZE
#include <aotc_crt/platform_stack.h>
#define MODEL_WORKSPACE_SIZE @macro_prefix@_WORKSPACE_SIZE
#define MODEL_WORKSPACE_USED ((uint32_t)AotcPlatformStackHighWaterBytes())
#endif

typedef struct @prefix@_inputs model_inputs;
typedef struct @prefix@_outputs model_outputs;
typedef int32_t (*model_run_function)(const model_inputs *, const model_outputs *, void *);

#define model_trace @prefix@_trace

/* Memory of the harness: X(name, bytes), each in the linker section MODEL_SECTION_name. It is an
 * arena, or several pools that a struct points to. */
#ifdef @macro_prefix@_FOR_EACH_POOL
#define MODEL_FOR_EACH_REGION(X) @macro_prefix@_FOR_EACH_POOL(X)
#define MODEL_POOLS struct @prefix@_pools
#define MODEL_MEMORY_TYPE const MODEL_POOLS *
#define MODEL_MEMORY(arena) ((MODEL_MEMORY_TYPE)(arena))
/* In samples.c, if the model's tables are a pool of their own. */
extern const uint8_t model_constants[];
#ifdef @macro_prefix@_CONSTANT_POOL
#define MODEL_POOL_OF_CONSTANTS .@macro_prefix@_CONSTANT_POOL = model_constants
#else
#define MODEL_POOL_OF_CONSTANTS
#endif
#else
#define MODEL_FOR_EACH_REGION(X) X(arena, MODEL_ARENA_SIZE)
#define MODEL_MEMORY_TYPE void *
#define MODEL_MEMORY(arena) (arena)
#endif
#define MODEL_SECTION_arena ".bss.arena"
@pool_sections@
#define MODEL_INPUT(field, arena) @prefix@_input_##field(MODEL_MEMORY(arena))
#define MODEL_OUTPUT(field, arena) @prefix@_output_##field(MODEL_MEMORY(arena))

/* A model with devices takes their contexts as well: none of the hooks of this project needs one. */
#if defined(@macro_prefix@_DEVICE_COUNT) && @macro_prefix@_DEVICE_COUNT > 0
static const struct @prefix@_devices model_devices;
#define MODEL_DEVICES , &model_devices
#define MODEL_DEVICES_TYPE , const struct @prefix@_devices *devices
#else
#define MODEL_DEVICES
#define MODEL_DEVICES_TYPE
#endif

/* What a model keeps from run to run; main.c has the memory. */
#ifdef @macro_prefix@_STATE_SIZE
#define MODEL_STATE_SIZE @macro_prefix@_STATE_SIZE
#define model_reset @prefix@_reset
extern uint8_t *const model_state;
#define MODEL_STATE , model_state
#define MODEL_STATE_TYPE , void *state
#else
#define MODEL_STATE
#define MODEL_STATE_TYPE
#endif

/* What is called with the three parameters that every run function has: by itself, so that nothing
 * is measured but the model, if that is all it takes. */
#if defined(@macro_prefix@_FOR_EACH_POOL) || defined(@macro_prefix@_STATE_SIZE) ||                                                       \
    (defined(@macro_prefix@_DEVICE_COUNT) && @macro_prefix@_DEVICE_COUNT > 0)
static inline int32_t model_run(const model_inputs *inputs, const model_outputs *outputs,
                                void *arena)
{
    return @prefix@_run(inputs, outputs, MODEL_MEMORY(arena) MODEL_STATE MODEL_DEVICES);
}

#if AOTC_VERIFY
int32_t @prefix@_run_traced(const model_inputs *inputs, const model_outputs *outputs,
                            MODEL_MEMORY_TYPE memory MODEL_STATE_TYPE MODEL_DEVICES_TYPE);

static inline int32_t model_run_traced(const model_inputs *inputs, const model_outputs *outputs,
                                       void *arena)
{
    return @prefix@_run_traced(inputs, outputs, MODEL_MEMORY(arena) MODEL_STATE MODEL_DEVICES);
}
#endif
#else
#define model_run @prefix@_run
#define model_run_traced @prefix@_run_traced

#if AOTC_VERIFY
int32_t model_run_traced(const model_inputs *inputs, const model_outputs *outputs, void *arena);
#endif
#endif

/* A model that runs in slices is compared in slices. */
#if AOTC_VERIFY && defined(@macro_prefix@_SLICE_COUNT)
#define MODEL_SLICES
#define MODEL_MORE @macro_prefix@_MORE
#define MODEL_DONE @macro_prefix@_DONE
typedef struct @prefix@_context model_context;
int32_t @prefix@_begin_traced(model_context *context, const model_inputs *inputs,
                              const model_outputs *outputs,
                              MODEL_MEMORY_TYPE memory MODEL_STATE_TYPE MODEL_DEVICES_TYPE);
int32_t @prefix@_step_traced(model_context *context);
#define model_step_traced @prefix@_step_traced

static inline int32_t model_begin_traced(model_context *context, const model_inputs *inputs,
                                         const model_outputs *outputs, void *arena)
{
    return @prefix@_begin_traced(context, inputs, outputs,
                                 MODEL_MEMORY(arena) MODEL_STATE MODEL_DEVICES);
}
#endif

#endif
