/* SPDX-License-Identifier: 0BSD */
/* Binds the harness to the model: every other source file says `..._of_model` and `..._OF_MODEL`.
 *
 * The model is compiled twice: as it is (what an application would link, and what is measured),
 * and, unless AOTC_VERIFY is off, a second time with its trace hook on and its run function
 * renamed, so that tracing costs the measured code nothing. */
#ifndef INCLUDED_MODEL
#define INCLUDED_MODEL

#if AOTC_VERIFY
#define @macro_prefix@_TRACE
#endif
/* A file that includes pthread.h does not see @prefix@_init: pthread_mutex_init may be the model's. */
#ifdef WITHOUT_INIT_OF_MODEL
#define @prefix@_init init_of_model
#endif
#include "../model/@prefix@.h"
#undef @prefix@_init

#define NAME_OF_MODEL "@prefix@"
#define FIRMWARE_ID_OF_MODEL @firmware_id@ /* of this code on this board */
#define ARENA_SIZE_OF_MODEL @macro_prefix@_ARENA_SIZE
#define ARENA_ALIGN_OF_MODEL @macro_prefix@_ARENA_ALIGN
#define INPUT_COUNT_OF_MODEL @macro_prefix@_INPUT_COUNT
#define OUTPUT_COUNT_OF_MODEL @macro_prefix@_OUTPUT_COUNT
#define CALL_COUNT_OF_MODEL @macro_prefix@_CALL_COUNT
#ifdef @macro_prefix@_KERNEL_COUNT
#define KERNEL_COUNT_OF_MODEL @macro_prefix@_KERNEL_COUNT
#define KERNELS_OF_MODEL @macro_prefix@_KERNELS /* of them, in assembly */
#endif
/* 1 if they lie in the arena: inputs are filled before every run, which overwrites them. */
#define INPUT_IN_ARENA_OF_MODEL @macro_prefix@_INPUT_IN_ARENA
#define OUTPUT_IN_ARENA_OF_MODEL @macro_prefix@_OUTPUT_IN_ARENA
#define FOR_EACH_INPUT_OF_MODEL(X) @macro_prefix@_FOR_EACH_INPUT(X)
#define FOR_EACH_OUTPUT_OF_MODEL(X) @macro_prefix@_FOR_EACH_OUTPUT(X)

/* A model that allocates at run time: from the runtime's stack, whose high water is known. */
#ifdef @macro_prefix@_WORKSPACE_SIZE
#include <aotc_crt/platform_stack.h>
#define WORKSPACE_SIZE_OF_MODEL @macro_prefix@_WORKSPACE_SIZE
#define WORKSPACE_USED_OF_MODEL ((uint32_t)AotcPlatformStackHighWaterBytes())
#endif

typedef struct @prefix@_inputs inputs_of_model;
typedef struct @prefix@_outputs outputs_of_model;
typedef int32_t (*run_function_of_model)(const inputs_of_model *, const outputs_of_model *, void *);

#define trace_of_model @prefix@_trace

/* Memory of the harness: X(name, bytes), each in the linker section SECTION_OF_MODEL_name. It is an
 * arena, or several pools that a struct points to. */
#ifdef @macro_prefix@_FOR_EACH_POOL
#define FOR_EACH_REGION_OF_MODEL(X) @macro_prefix@_FOR_EACH_POOL(X)
#define POOLS_OF_MODEL struct @prefix@_pools
#define MEMORY_TYPE_OF_MODEL const POOLS_OF_MODEL *
#define MEMORY_OF_MODEL(arena) ((MEMORY_TYPE_OF_MODEL)(arena))
/* In samples.c, if the model's tables are a pool of their own. */
extern const uint8_t constants_of_model[];
#ifdef @macro_prefix@_CONSTANT_POOL
#define CONSTANT_POOL_OF_MODEL .@macro_prefix@_CONSTANT_POOL = constants_of_model
#else
#define CONSTANT_POOL_OF_MODEL
#endif
#else
#define FOR_EACH_REGION_OF_MODEL(X) X(arena, ARENA_SIZE_OF_MODEL)
#define MEMORY_TYPE_OF_MODEL void *
#define MEMORY_OF_MODEL(arena) (arena)
#endif
#define SECTION_OF_MODEL_arena ".bss.arena"
@pool_sections@
#define INPUT_OF_MODEL(field, arena) @prefix@_input_##field(MEMORY_OF_MODEL(arena))
#define OUTPUT_OF_MODEL(field, arena) @prefix@_output_##field(MEMORY_OF_MODEL(arena))

/* A model with devices takes their contexts as well: none of the hooks of this project needs one. */
#if defined(@macro_prefix@_DEVICE_COUNT) && @macro_prefix@_DEVICE_COUNT > 0
static const struct @prefix@_devices devices_of_model;
#define DEVICES_OF_MODEL , &devices_of_model
#define DEVICES_TYPE_OF_MODEL , const struct @prefix@_devices *devices
#else
#define DEVICES_OF_MODEL
#define DEVICES_TYPE_OF_MODEL
#endif

/* What a model keeps from run to run; main.c has the memory. */
#ifdef @macro_prefix@_STATE_SIZE
#define STATE_SIZE_OF_MODEL @macro_prefix@_STATE_SIZE
#define reset_of_model @prefix@_reset
extern uint8_t *const state_of_model;
#define STATE_OF_MODEL , state_of_model
#define STATE_TYPE_OF_MODEL , void *state
#else
#define STATE_OF_MODEL
#define STATE_TYPE_OF_MODEL
#endif

/* What is called with the three parameters that every run function has: by itself, so that nothing
 * is measured but the model, if that is all it takes. */
#if defined(@macro_prefix@_FOR_EACH_POOL) || defined(@macro_prefix@_STATE_SIZE) || \
    (defined(@macro_prefix@_DEVICE_COUNT) && @macro_prefix@_DEVICE_COUNT > 0)
static inline int32_t run_of_model(const inputs_of_model *inputs, const outputs_of_model *outputs,
                                void *arena)
{
    return @prefix@_run(inputs, outputs, MEMORY_OF_MODEL(arena) STATE_OF_MODEL DEVICES_OF_MODEL);
}

#if AOTC_VERIFY
int32_t @prefix@_run_traced(const inputs_of_model *inputs, const outputs_of_model *outputs,
                            MEMORY_TYPE_OF_MODEL memory STATE_TYPE_OF_MODEL DEVICES_TYPE_OF_MODEL);

static inline int32_t run_traced_of_model(const inputs_of_model *inputs,
                                          const outputs_of_model *outputs, void *arena)
{
    return @prefix@_run_traced(inputs, outputs,
                               MEMORY_OF_MODEL(arena) STATE_OF_MODEL DEVICES_OF_MODEL);
}
#endif
#else
#define run_of_model @prefix@_run
#define run_traced_of_model @prefix@_run_traced

#if AOTC_VERIFY
int32_t run_traced_of_model(const inputs_of_model *inputs, const outputs_of_model *outputs,
                            void *arena);
#endif
#endif

/* A model whose input is fed by rows: main.c does that, from where samples are. `copy` is nothing, or _traced. */
#ifdef @macro_prefix@_ROWS
#define ROWS_OF_MODEL @macro_prefix@_ROWS
#define ROW_BYTES_OF_MODEL @macro_prefix@_ROW_BYTES
#define DONE_OF_MODEL @macro_prefix@_DONE
typedef struct @prefix@_context context_of_model;
#define BEGIN_OF_MODEL(copy, context, outputs, arena)                                                 \
    @prefix@_begin##copy(context, outputs, MEMORY_OF_MODEL(arena) STATE_OF_MODEL)
#define ROW_OF_MODEL(copy, context) @prefix@_row##copy(context)
#ifdef @macro_prefix@_SLICE_COUNT
#define FEED_OF_MODEL(copy, context, status)                                                          \
    status = @prefix@_feed##copy(context);                                                         \
    while ((status) == @macro_prefix@_MORE) { status = @prefix@_step##copy(context); }
#else
#define FEED_OF_MODEL(copy, context, status) status = @prefix@_feed##copy(context);
#endif
#if AOTC_VERIFY
extern __typeof__(@prefix@_begin) @prefix@_begin_traced;
extern __typeof__(@prefix@_row) @prefix@_row_traced;
extern __typeof__(@prefix@_feed) @prefix@_feed_traced;
#ifdef @macro_prefix@_SLICE_COUNT
extern __typeof__(@prefix@_step) @prefix@_step_traced;
#endif
#endif
#undef run_of_model
#undef run_traced_of_model
#define run_of_model run_by_rows
#define run_traced_of_model run_traced_by_rows
#endif

/* A model that runs in slices is compared in slices. */
#if AOTC_VERIFY && defined(@macro_prefix@_SLICE_COUNT) && !defined(@macro_prefix@_ROWS)
#define SLICES_OF_MODEL
#define MORE_OF_MODEL @macro_prefix@_MORE
#define DONE_OF_MODEL @macro_prefix@_DONE
typedef struct @prefix@_context context_of_model;
int32_t @prefix@_begin_traced(context_of_model *context, const inputs_of_model *inputs,
                              const outputs_of_model *outputs,
                              MEMORY_TYPE_OF_MODEL memory STATE_TYPE_OF_MODEL DEVICES_TYPE_OF_MODEL);
int32_t @prefix@_step_traced(context_of_model *context);
#define step_traced_of_model @prefix@_step_traced

static inline int32_t begin_traced_of_model(context_of_model *context,
                                            const inputs_of_model *inputs,
                                            const outputs_of_model *outputs, void *arena)
{
    return @prefix@_begin_traced(context, inputs, outputs,
                                 MEMORY_OF_MODEL(arena) STATE_OF_MODEL DEVICES_OF_MODEL);
}
#endif

#endif
