/* SPDX-License-Identifier: 0BSD */
/* The memory of the model '@prefix@' and its stored inputs. */
#include "@prefix@_app.h"

#include <string.h>

/* Tables that are only read stay in flash where that needs saying. */
#if defined(__AVR__)
#include <avr/pgmspace.h>
#define IN_FLASH PROGMEM
#define COPY_FROM_FLASH(to, from, bytes) memcpy_P(to, from, bytes)
#else
#define IN_FLASH
#define COPY_FROM_FLASH(to, from, bytes) memcpy(to, from, bytes)
#endif

@pool_places@
/* Where the arena lies: @macro_prefix@_PLACE_ARENA may be a section attribute, for instance
 * -D'@macro_prefix@_PLACE_ARENA=__attribute__((section(".dtcm")))'. */
#ifndef @macro_prefix@_PLACE_ARENA
#define @macro_prefix@_PLACE_ARENA
#endif

/* Where inputs, outputs and state of this file lie, in the same way. */
#ifndef @macro_prefix@_PLACE_DATA
#define @macro_prefix@_PLACE_DATA
#endif

#if defined(__GNUC__)
#define ALIGNED __attribute__((aligned(@macro_prefix@_ARENA_ALIGN)))
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define ALIGNED _Alignas(@macro_prefix@_ARENA_ALIGN)
#else
#error "@prefix@: how does this compiler align a variable? compile as C11"
#endif

/* No array is empty. */
#define ROOM_FOR(bytes) ((bytes) > 0u ? (bytes) : 1u)

#ifdef @macro_prefix@_FOR_EACH_POOL
#define DEFINE_POOL(field, bytes) \
    @macro_prefix@_PLACE_##field ALIGNED static uint8_t pool_##field[ROOM_FOR(bytes)];
@macro_prefix@_FOR_EACH_POOL(DEFINE_POOL)
#define POINT_TO_POOL(field, bytes) .field = pool_##field,

/* The model's tables, if they are a pool as well. */
#ifdef @macro_prefix@_CONSTANT_POOL
#include "@prefix@_constants.h"
#ifndef @macro_prefix@_PLACE_CONSTANTS
#define @macro_prefix@_PLACE_CONSTANTS
#endif
@macro_prefix@_PLACE_CONSTANTS ALIGNED static const uint8_t constants[] = {
    @macro_prefix@_CONSTANT_POOL_DATA
};
#define POINT_TO_CONSTANTS .@macro_prefix@_CONSTANT_POOL = constants,
#else
#define POINT_TO_CONSTANTS
#endif

static const struct @prefix@_pools pools = {
    @macro_prefix@_FOR_EACH_POOL(POINT_TO_POOL) POINT_TO_CONSTANTS
};

@prefix@_memory_type @prefix@_memory(void)
{
    return &pools;
}
#elif defined(@macro_prefix@_OWN_ARENA)
@prefix@_memory_type @prefix@_memory(void)
{
    return @prefix@_arena;
}
#else
@macro_prefix@_PLACE_ARENA ALIGNED static uint8_t arena[ROOM_FOR(@macro_prefix@_ARENA_SIZE)];

@prefix@_memory_type @prefix@_memory(void)
{
    return arena;
}
#endif

/* What the model keeps from run to run. */
#ifdef @macro_prefix@_STATE_SIZE
@macro_prefix@_PLACE_DATA ALIGNED static uint8_t state[@macro_prefix@_STATE_SIZE];
@macro_prefix@_PLACE_DATA static uint8_t state_ready;
#define STATE , state
#define STATE_TYPE , void *
#else
#define STATE
#define STATE_TYPE
#endif

void @prefix@_app_reset(void)
{
#ifdef @macro_prefix@_STATE_SIZE
    (void)@prefix@_reset(state);
    state_ready = 1;
#endif
}

/* Inputs and outputs lie in the arena or in buffers of the caller's: these. */
#define DECLARE_BUFFER(field, c_type, elements, scale, zero_point) ALIGNED c_type field[elements];
#define POINT_TO_INPUT(field, c_type, elements, scale, zero_point) input_data.field,
#define POINT_TO_OUTPUT(field, c_type, elements, scale, zero_point) output_data.field,

#if @macro_prefix@_INPUT_IN_ARENA || @macro_prefix@_INPUT_COUNT == 0
static const struct @prefix@_inputs inputs;
#define INPUT_DATA(field) @prefix@_input_##field(@prefix@_memory())
#else
@macro_prefix@_PLACE_DATA static struct {
    @macro_prefix@_FOR_EACH_INPUT(DECLARE_BUFFER)
} input_data;
static const struct @prefix@_inputs inputs = {@macro_prefix@_FOR_EACH_INPUT(POINT_TO_INPUT)};
#define INPUT_DATA(field) input_data.field
#endif

#if @macro_prefix@_OUTPUT_IN_ARENA
static const struct @prefix@_outputs outputs;
#define OUTPUT_DATA(field) (void *)@prefix@_output_##field(@prefix@_memory()) /* not const */
#else
@macro_prefix@_PLACE_DATA static struct {
    @macro_prefix@_FOR_EACH_OUTPUT(DECLARE_BUFFER)
} output_data;
static const struct @prefix@_outputs outputs = {@macro_prefix@_FOR_EACH_OUTPUT(POINT_TO_OUTPUT)};
#define OUTPUT_DATA(field) output_data.field
#endif

/* Only a float keeps the half of 3/2; only a signed integer has a -1 below 0. */
#define KIND_OF(c_type)                                                                            \
    (char)((double)((c_type)3 / (c_type)2) > 1.0 ? 'f' : (double)(c_type)-1 < 0.0 ? 'i' : 'u')
#define DESCRIBE(data_, c_type, elements_, scale_, zero_point_)                                    \
    if (index == at++) {                                                                           \
        tensor.data = (data_);                                                                     \
        tensor.elements = (uint32_t)(elements_);                                                   \
        tensor.bytes = (uint32_t)((elements_) * sizeof(c_type));                                   \
        tensor.scale = (float)(scale_);                                                            \
        tensor.zero_point = (int32_t)(zero_point_);                                                \
        tensor.kind = KIND_OF(c_type);                                                             \
    }
#define DESCRIBE_INPUT(field, c_type, elements, scale, zero_point)                                 \
    DESCRIBE(INPUT_DATA(field), c_type, elements, scale, zero_point)
#define DESCRIBE_OUTPUT(field, c_type, elements, scale, zero_point)                                \
    DESCRIBE(OUTPUT_DATA(field), c_type, elements, scale, zero_point)

struct @prefix@_tensor @prefix@_app_input(uint32_t index)
{
    struct @prefix@_tensor tensor = {0, 0, 0, 0, 0, 0};
    uint32_t at = 0;
    @macro_prefix@_FOR_EACH_INPUT(DESCRIBE_INPUT)
    (void)at;
    return tensor;
}

struct @prefix@_tensor @prefix@_app_output(uint32_t index)
{
    struct @prefix@_tensor tensor = {0, 0, 0, 0, 0, 0};
    uint32_t at = 0;
    @macro_prefix@_FOR_EACH_OUTPUT(DESCRIBE_OUTPUT)
    (void)at;
    return tensor;
}

float @prefix@_app_value(const struct @prefix@_tensor *tensor, uint32_t element)
{
    const uint32_t size = tensor->elements == 0u ? 0u : tensor->bytes / tensor->elements;
    const uint8_t *at = (const uint8_t *)tensor->data + (size_t)element * size;
    int64_t value = 0;
    if (element >= tensor->elements) { return 0.0f; }
    if (tensor->kind == 'f') {
        float real;
        memcpy(&real, at, sizeof real);
        return real;
    }
    if (size == 1u) {
        value = tensor->kind == 'i' ? (int64_t)(int8_t)*at : (int64_t)*at;
    } else if (size == 2u) {
        int16_t half;
        memcpy(&half, at, sizeof half);
        value = tensor->kind == 'i' ? (int64_t)half : (int64_t)(uint16_t)half;
    } else if (size == 4u) {
        int32_t word;
        memcpy(&word, at, sizeof word);
        value = tensor->kind == 'i' ? (int64_t)word : (int64_t)(uint32_t)word;
    } else {
        memcpy(&value, at, sizeof value);
    }
    /* A scale of 0 is that of a tensor without one: its integers are its values. */
    if (!(tensor->scale > 0.0f)) { return (float)value; }
    return (float)(value - tensor->zero_point) * tensor->scale;
}

int32_t @prefix@_app_run(void)
{
#ifdef @macro_prefix@_STATE_SIZE
    if (!state_ready) { @prefix@_app_reset(); }
#endif
    return @prefix@_run(&inputs, &outputs, @prefix@_memory() STATE);
}

#ifdef @macro_prefix@_ROWS
int32_t @prefix@_app_begin(struct @prefix@_context *run)
{
#ifdef @macro_prefix@_STATE_SIZE
    if (!state_ready) { @prefix@_app_reset(); }
#endif
#if !@macro_prefix@_OUTPUT_IN_ARENA
    memset(&output_data, 0, sizeof output_data);
#endif
    return @prefix@_begin(run, &outputs, @prefix@_memory() STATE);
}

/* FNV-1a. */
uint32_t @prefix@_app_checksum(uint32_t before)
{
    uint32_t hash = before == 0u ? 0x811C9DC5u : before;
    uint32_t output;
    for (output = 0; output < @macro_prefix@_OUTPUT_COUNT; ++output) {
        const struct @prefix@_tensor tensor = @prefix@_app_output(output);
        const uint8_t *bytes = (const uint8_t *)tensor.data;
        uint32_t i;
        for (i = 0; i < tensor.bytes; ++i) { hash = ((hash ^ bytes[i]) * 0x01000193u) & 0xFFFFFFFFu; }
    }
    return hash;
}
#endif

/* For app_self_test.c, which runs a copy of the model that reports its layers. */
int32_t @prefix@_app_run_by(int32_t (*run)(const struct @prefix@_inputs *,
                                           const struct @prefix@_outputs *,
                                           @prefix@_memory_type STATE_TYPE));

int32_t @prefix@_app_run_by(int32_t (*run)(const struct @prefix@_inputs *,
                                           const struct @prefix@_outputs *,
                                           @prefix@_memory_type STATE_TYPE))
{
    @prefix@_app_reset();
    return run(&inputs, &outputs, @prefix@_memory() STATE);
}

/* The bytes of all inputs of the first sample, then of the next. */
static const uint8_t samples[] IN_FLASH = {
    @sample_bytes@
};

void @prefix@_read_samples(uint32_t from, void *to, uint32_t bytes)
{
    if (from <= sizeof samples && bytes <= sizeof samples - from) {
        (void)COPY_FROM_FLASH(to, samples + from, bytes);
    } else {
        memset(to, 0, bytes);
    }
}

void @prefix@_load_sample(uint32_t index)
{
    uint32_t input;
    uint32_t total = 0;
    uint32_t from;
    for (input = 0; input < @macro_prefix@_INPUT_COUNT; ++input) {
        total += @prefix@_app_input(input).bytes;
    }
    from = index * total;
    for (input = 0; input < @macro_prefix@_INPUT_COUNT; ++input) {
        const struct @prefix@_tensor tensor = @prefix@_app_input(input);
        @prefix@_read_samples(from, tensor.data, tensor.bytes);
        from += tensor.bytes;
    }
}
