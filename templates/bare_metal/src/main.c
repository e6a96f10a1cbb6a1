/* SPDX-License-Identifier: 0BSD */
/* The firmware around the model. Without arguments it is a demo: it runs the stored samples and
 * prints predictions and figures. `verify IN OUT` reads inputs from a file and writes every
 * result of every operator to another, with the figures, for comparison with a reference; `outputs IN
 * OUT` writes those of the model only.
 *
 * Both files are little endian and are streamed record by record; the formats are described at
 * the functions that read and write them. */
#include <string.h>

#include "harness.h"
#ifdef SECOND_CORE_DEVICE
#include "second_core.h"
#endif

#ifdef STATE_SIZE_OF_MODEL
#define INPUT_MAGIC 0x53544F41u
#else
#define INPUT_MAGIC 0x43544F41u
#endif
#define OUTPUT_MAGIC 0x52544F41u
#define RECORD_OUTPUT 0xFFFFFFFEu
#define RECORD_TIMING 0xFFFFFFFDu
#define RECORD_SUMMARY 0xFFFFFFFFu

#define EXIT_DONE 0
#define EXIT_MODEL_FAILED 1
#define EXIT_USAGE 2
#define EXIT_FILE 4

/* Both guards are multiples of the alignment, so that they touch the arena on both sides. */
#define GUARD_BYTES                                                                                \
    ((64u + (ARENA_ALIGN_OF_MODEL) - 1u) / (ARENA_ALIGN_OF_MODEL) * (ARENA_ALIGN_OF_MODEL))

/* Only a float keeps the half of 3/2; only a signed integer has a -1 below 0. */
#define ELEMENT_KIND(c_type)                                                                       \
    ((double)((c_type)3 / (c_type)2) > 1.0 ? ELEMENT_FLOAT                                         \
     : (double)(c_type)-1 < 0.0            ? ELEMENT_SIGNED                                        \
                                           : ELEMENT_UNSIGNED)

#define DECLARE_BUFFER(field, c_type, elements, scale, zero_point)                                 \
    c_type field[elements] __attribute__((aligned(16)));
#define POINT_TO_INPUT(field, c_type, elements, scale, zero_point) input_data.field,
#define POINT_TO_OUTPUT(field, c_type, elements, scale, zero_point) output_data.field,
#define DESCRIBE(field, data, c_type, count, scale, zero_point)                                    \
    (struct tensor){#field,         (void *)(uintptr_t)(data), (uint32_t)(count),                  \
                    (uint32_t)((count) * sizeof(c_type)), (float)(scale), (int32_t)(zero_point),   \
                    ELEMENT_KIND(c_type)};

/* The arena, or each pool: in the memory that it is for, between guards. */
#define DEFINE_REGION(name, bytes)                                                                 \
    static uint8_t region_##name[GUARD_BYTES + (bytes) + GUARD_BYTES]                              \
        __attribute__((aligned(ARENA_ALIGN_OF_MODEL), section(SECTION_OF_MODEL_##name)));
FOR_EACH_REGION_OF_MODEL(DEFINE_REGION)
#ifdef POOLS_OF_MODEL
#define POINT_TO_REGION(name, bytes) .name = region_##name + GUARD_BYTES,
static const POOLS_OF_MODEL pools = {
    FOR_EACH_REGION_OF_MODEL(POINT_TO_REGION) CONSTANT_POOL_OF_MODEL};
#define ARENA ((void *)(uintptr_t)&pools)
#else
#define ARENA (region_arena + GUARD_BYTES)
#endif

/* What the model keeps from run to run. */
#ifdef STATE_SIZE_OF_MODEL
static uint8_t region_state[GUARD_BYTES + STATE_SIZE_OF_MODEL + GUARD_BYTES]
    __attribute__((aligned(ARENA_ALIGN_OF_MODEL)));
uint8_t *const state_of_model = region_state + GUARD_BYTES;
#endif

/* A model has its inputs and outputs in the arena or in buffers of its caller. */
#ifdef ROWS_OF_MODEL
/* Rows are read when they are fed: no input is in memory as a whole. */
static const inputs_of_model inputs;
#define DESCRIBE_INPUT(field, c_type, count, scale, zero_point)                                    \
    *at++ = DESCRIBE(field, NULL, c_type, count, scale, zero_point)
#elif INPUT_IN_ARENA_OF_MODEL
static const inputs_of_model inputs;
#define DESCRIBE_INPUT(field, c_type, count, scale, zero_point)                                    \
    *at++ = DESCRIBE(field, INPUT_OF_MODEL(field, ARENA), c_type, count, scale, zero_point)
#else
static struct {
    FOR_EACH_INPUT_OF_MODEL(DECLARE_BUFFER)
} input_data;
static const inputs_of_model inputs = {FOR_EACH_INPUT_OF_MODEL(POINT_TO_INPUT)};
#define DESCRIBE_INPUT(field, c_type, count, scale, zero_point)                                    \
    *at++ = DESCRIBE(field, input_data.field, c_type, count, scale, zero_point)
#endif

#if OUTPUT_IN_ARENA_OF_MODEL
static const outputs_of_model outputs;
#define DESCRIBE_OUTPUT(field, c_type, count, scale, zero_point)                                   \
    *at++ = DESCRIBE(field, OUTPUT_OF_MODEL(field, ARENA), c_type, count, scale, zero_point)
#else
static struct {
    FOR_EACH_OUTPUT_OF_MODEL(DECLARE_BUFFER)
} output_data;
static const outputs_of_model outputs = {FOR_EACH_OUTPUT_OF_MODEL(POINT_TO_OUTPUT)};
#define DESCRIBE_OUTPUT(field, c_type, count, scale, zero_point)                                   \
    *at++ = DESCRIBE(field, output_data.field, c_type, count, scale, zero_point)
#endif

/* One more than there are: an array of none is not C. */
static struct tensor input_tensors[INPUT_COUNT_OF_MODEL + 1];
static struct tensor output_tensors[OUTPUT_COUNT_OF_MODEL + 1];

static void describe_tensors(void)
{
    struct tensor *at = input_tensors;
    FOR_EACH_INPUT_OF_MODEL(DESCRIBE_INPUT)
    at = output_tensors;
    FOR_EACH_OUTPUT_OF_MODEL(DESCRIBE_OUTPUT)
    (void)at;
}

static uint8_t guard_byte(uint32_t i)
{
    return (uint8_t)(0xA5u ^ (i * 29u));
}

static void prepare_region(uint8_t *region, uint32_t bytes)
{
    static uint32_t noise = 0x2545F491u;
    uint8_t *const begin = region + GUARD_BYTES;
    uint8_t *at;
    uint32_t i;
    for (i = 0; i < GUARD_BYTES; ++i) {
        region[i] = guard_byte(i);
        begin[bytes + i] = guard_byte(i);
    }
    for (at = begin; at != begin + bytes; ++at) {
        noise = noise * 1664525u + 1013904223u;
        *at = (uint8_t)(noise >> 24);
    }
}

/* Nothing an earlier run left in the arena may help the next one. Inputs come after it: they may
 * lie in there. */
static void prepare_arena(void)
{
#define PREPARE_REGION(name, bytes) prepare_region(region_##name, (bytes));
    FOR_EACH_REGION_OF_MODEL(PREPARE_REGION)
}

/* The next run is a first run. */
static void forget_runs(void)
{
#ifdef STATE_SIZE_OF_MODEL
    prepare_region(region_state, STATE_SIZE_OF_MODEL);
    (void)reset_of_model(state_of_model);
#endif
}

static int region_intact(const uint8_t *region, uint32_t bytes)
{
    uint32_t i;
    for (i = 0; i < GUARD_BYTES; ++i) {
        if (region[i] != guard_byte(i) || region[GUARD_BYTES + bytes + i] != guard_byte(i)) {
            return 0;
        }
    }
    return 1;
}

static int guards_intact(void)
{
#define AND_REGION_INTACT(name, bytes) &&region_intact(region_##name, (bytes))
#ifdef STATE_SIZE_OF_MODEL
    if (!region_intact(region_state, STATE_SIZE_OF_MODEL)) { return 0; }
#endif
    return 1 FOR_EACH_REGION_OF_MODEL(AND_REGION_INTACT);
}

/* --- Rows ----------------------------------------------------------------------------------- */

#ifdef ROWS_OF_MODEL

#define NO_ROW (-100)

/* Where the next row is: in flash, in a file, or nowhere (then it is zero bytes). */
static struct {
    const uint8_t *at;
    int has_file;
    int closes; /* the file, behind the last row */
    intptr_t file;
} rows;

static int read_rows(void *to, uint32_t bytes)
{
    if (rows.has_file) { return platform_read(rows.file, to, bytes); }
    if (rows.at == NULL) {
        memset(to, 0, bytes);
    } else {
        memcpy(to, rows.at, bytes);
        rows.at += bytes;
    }
    return 0;
}

/* What the model does not read of the image. */
static int skip_rest(void)
{
    uint8_t byte;
    uint32_t rest = rows.has_file ? input_tensors[0].bytes - ROWS_OF_MODEL * ROW_BYTES_OF_MODEL : 0u;
    int failed = 0;
    for (; rest > 0u && !failed; --rest) { failed = platform_read(rows.file, &byte, 1u); }
    if (rows.has_file && rows.closes) { failed = platform_close(rows.file) != 0 || failed; }
    rows.closes = 0;
    return failed;
}

/* As the model's run function, with rows from `rows`. */
#define DEFINE_RUN(name, copy)                                                                     \
    static __attribute__((noinline)) int32_t name(const inputs_of_model *none,                     \
                                                  const outputs_of_model *to, void *arena)         \
    {                                                                                              \
        static context_of_model context;                                                           \
        int32_t status = BEGIN_OF_MODEL(copy, &context, to, arena);                                \
        int32_t row;                                                                               \
        (void)none;                                                                                \
        for (row = 0; row < ROWS_OF_MODEL && status == 0; ++row) {                                 \
            if (read_rows(ROW_OF_MODEL(copy, &context), ROW_BYTES_OF_MODEL) != 0) { return NO_ROW; }\
            FEED_OF_MODEL(copy, &context, status)                                                  \
        }                                                                                          \
        if (skip_rest() != 0) { return NO_ROW; }                                                   \
        return status == DONE_OF_MODEL ? 0 : status;                                               \
    }
DEFINE_RUN(run_by_rows, )
#if AOTC_VERIFY
DEFINE_RUN(run_traced_by_rows, _traced)
#endif

#endif

/* --- Measuring ------------------------------------------------------------------------------ */

struct figures {
    int32_t status;
    uint32_t stack_bytes;
    int guards;
    uint64_t length;
};

/* Out of line, so that the empty run and the model are called by the same instructions. */
static __attribute__((noinline)) uint64_t time_run(run_function_of_model run, int32_t *status)
{
    platform_clock_restart();
    *status = run(&inputs, &outputs, ARENA);
    return platform_clock_elapsed();
}

/* Length of one run, from the first instruction of the run function to its return. */
static uint64_t measure_run(int32_t *status)
{
    int32_t ignored;
    uint64_t empty = time_run(platform_empty_run, &ignored);
    uint64_t full;
    /* The first time is a warm-up, for machines that have caches. */
    empty = time_run(platform_empty_run, &ignored);
    full = time_run(run_of_model, status) + platform_empty_run_length;
    return full > empty ? full - empty : 0u;
}

/* Puts sample 0 into the inputs; 0 if that worked. */
typedef int (*load_function)(void);

/* Stack first, on its own: a clock may need interrupts, which would use the same stack. */
static int measure_model(struct figures *result, load_function load)
{
    prepare_arena();
    forget_runs();
    if (load() != 0) { return -1; }
    result->stack_bytes =
        platform_stack_of(run_of_model, &inputs, &outputs, ARENA, &result->status);
    result->guards = result->guards && guards_intact();
    result->length = 0;
    if (result->status == 0) {
        prepare_arena();
        forget_runs();
        if (load() != 0) { return -1; }
        result->length = measure_run(&result->status);
        result->guards = result->guards && guards_intact();
    }
    return 0;
}

#if AOTC_VERIFY

static struct {
    int timing;           /* add up operator times */
    int recording;        /* write records to `file` */
    struct self_test *test; /* not null: compare */
    int failed;           /* a write failed: the rest is not written */
    uint32_t sample;
    intptr_t file;
    uint64_t hook_length; /* what two hook calls in a row see as time between them */
    uint64_t ticks[CALL_COUNT_OF_MODEL];
} trace;

/* {u32 sample, u32 op, u32 result, u32 bytes}, then the bytes. */
static void write_record(uint32_t op, uint32_t result, const void *data, uint32_t bytes)
{
    uint32_t head[4];
    head[0] = trace.sample;
    head[1] = op;
    head[2] = result;
    head[3] = bytes;
    if (!trace.failed && (platform_write(trace.file, head, (uint32_t)sizeof head) != 0 ||
                          (bytes != 0u && platform_write(trace.file, data, bytes) != 0))) {
        trace.failed = 1;
    }
}

/* The clock stands still in here: it is read first and restarted last. */
__attribute__((noinline)) void trace_of_model(int32_t op, int32_t result, const void *data,
                                           uint32_t bytes)
{
    if (trace.timing) {
        const uint64_t elapsed = platform_clock_elapsed();
        if (op >= 0 && op < CALL_COUNT_OF_MODEL && elapsed > trace.hook_length) {
            trace.ticks[op] += elapsed - trace.hook_length;
        }
    }
    if (trace.recording) { write_record((uint32_t)op, (uint32_t)result, data, bytes); }
    if (trace.test != 0) { self_test_result(trace.test, op, result, data, bytes); }
    if (trace.timing) { platform_clock_restart(); }
}

static void start_op_timing(void)
{
    memset(&trace, 0, sizeof trace);
    trace.timing = 1;
    platform_clock_restart();
    trace_of_model(0, 0, ARENA, 1u);
    trace_of_model(0, 0, ARENA, 1u);
    (void)platform_clock_elapsed();
    trace.hook_length = trace.ticks[0] / 2u;
    trace.ticks[0] = 0;
}

/* Reading the clock at the end stops it: it must not interrupt what follows. */
static int32_t run_traced(void)
{
    int32_t status;
#ifdef SLICES_OF_MODEL
    static context_of_model context;
    status = begin_traced_of_model(&context, &inputs, &outputs, ARENA);
    platform_clock_restart();
    if (status == 0) {
        do { status = step_traced_of_model(&context); } while (status == MORE_OF_MODEL);
        if (status == DONE_OF_MODEL) { status = 0; }
    }
#else
    platform_clock_restart();
    status = run_traced_of_model(&inputs, &outputs, ARENA);
#endif
    (void)platform_clock_elapsed();
    return status;
}

#endif

/* --- Demo ----------------------------------------------------------------------------------- */

static void load_sample(uint32_t index)
{
#ifdef ROWS_OF_MODEL
    const uint32_t bytes = input_tensors[0].bytes;
    rows.has_file = 0;
    rows.at = index < sample_count ? sample_bytes + index * bytes : NULL;
#else
    const uint8_t *from = sample_bytes;
    uint32_t total = 0;
    uint32_t i;
    for (i = 0; i < INPUT_COUNT_OF_MODEL; ++i) { total += input_tensors[i].bytes; }
    from += index * total;
    for (i = 0; i < INPUT_COUNT_OF_MODEL; ++i) {
        const struct tensor *t = &input_tensors[i];
        const uint32_t offset = (uint32_t)(from - sample_bytes);
        if (sample_count == 0u || offset > sample_bytes_size ||
            sample_bytes_size - offset < t->bytes) {
            memset(t->data, 0, t->bytes);
        } else {
            memcpy(t->data, from, t->bytes);
        }
        from += t->bytes;
    }
#endif
}

static int load_first_sample(void)
{
    load_sample(0);
    return 0;
}

static int fail_run(int32_t status)
{
    print_text("the model returned status ");
    print_i64(status);
    print_text("\n@aotc status=");
    print_i64(status);
    print_text("\n");
    return EXIT_MODEL_FAILED;
}

/* Operator times of the sample that is loaded. */
static void print_op_times(void)
{
#if AOTC_VERIFY
    uint32_t op;
    start_op_timing();
    prepare_arena();
    forget_runs();
    load_sample(0);
    if (run_traced() != 0) { return; }
    for (op = 0; op < CALL_COUNT_OF_MODEL; ++op) {
        print_text("@aotc");
        print_pair("op", op);
        print_text(" op_");
        print_text(platform_clock_unit());
        print_text("=");
        print_u64(trace.ticks[op]);
        print_text("\n");
    }
#endif
}

/* 0 if every layer gives for the first sample what the reference gave. */
static int self_test(void)
{
#if AOTC_VERIFY
    struct self_test test = {0, 0, -1};
    int failed;
    if (sample_count == 0u || self_test_count == 0u) { return 0; }
    memset(&trace, 0, sizeof trace);
    trace.test = &test;
    prepare_arena();
    forget_runs();
    load_sample(0);
    failed = run_traced() != 0 || test.compared != self_test_count || test.first_difference >= 0;
    trace.test = 0;
#ifdef KERNEL_COUNT_OF_MODEL
    print_text("kernels: ");
    print_u64(KERNELS_OF_MODEL);
    print_text(" of ");
    print_u64(KERNEL_COUNT_OF_MODEL);
    print_text(" in assembly\n");
#endif
    print_text("self test: ");
    if (failed && test.first_difference >= 0) {
        print_text("FAILED, the first layer that differs is ");
        print_i64(test.first_difference);
        print_text(", ");
        print_text(layer_name(test.first_difference));
    } else if (failed) {
        print_text("FAILED, a layer did not report its result");
    } else {
        print_text(test.exact == test.compared ? "bit-exact, " : "floats within tolerance, ");
        print_u64(test.compared);
        print_text(" results of layers");
    }
    print_text("\n@aotc");
    print_pair("self_test_failed", (uint64_t)failed);
    print_pair("self_test_results", test.compared);
    print_pair("self_test_exact", test.exact);
    print_text("\n");
    return failed;
#else
    return 0;
#endif
}

static void print_figures(const struct figures *figures)
{
    print_text("one inference: ");
    print_u64(figures->length);
    print_text(" ");
    print_text(platform_clock_unit());
#ifdef WORKSPACE_SIZE_OF_MODEL
    print_text(", workspace ");
    print_u64(WORKSPACE_USED_OF_MODEL);
#else
    print_text(", arena ");
    print_u64(ARENA_SIZE_OF_MODEL);
#endif
    print_text(" bytes, stack ");
    print_u64(figures->stack_bytes);
    print_text(figures->guards ? " bytes\n" : " bytes; IT WROTE OUTSIDE OF ITS ARENA\n");
    print_text("@aotc");
    print_pair(platform_clock_unit(), figures->length);
    print_pair("arena_bytes", ARENA_SIZE_OF_MODEL);
#ifdef STATE_SIZE_OF_MODEL
    print_pair("state_bytes", STATE_SIZE_OF_MODEL);
#endif
#ifdef WORKSPACE_SIZE_OF_MODEL
    print_pair("workspace_bytes", WORKSPACE_SIZE_OF_MODEL);
    print_pair("workspace_high_water", WORKSPACE_USED_OF_MODEL);
#endif
    print_pair("stack_bytes", figures->stack_bytes);
    print_pair("guard_ok", figures->guards ? 1u : 0u);
    print_text(" status=0\n");
}

/* What the second core did for sample 0, in ticks of its clock. An emulator that counts the
 * instructions of both cores on one clock runs them in turn: there, `overlap` is what cores that
 * run side by side would save. */
static void print_device_figures(void)
{
#ifdef SECOND_CORE_DEVICE
    struct second_core_figures f;
    prepare_arena();
    forget_runs();
    load_sample(0);
    second_core_clear_figures();
    if (run_of_model(&inputs, &outputs, ARENA) != 0) { return; }
    f = second_core_get_figures();
    print_text("second core: ");
    print_u64(f.launches);
    print_text(" launches, ");
    print_u64(f.device);
    print_text(" ticks; side by side with the first for ");
    print_u64(f.overlap);
    print_text("\n@aotc");
    print_pair("device_launches", f.launches);
    print_pair("device_ticks", f.device);
    print_pair("device_host_ticks", f.host);
    print_pair("device_overlap_ticks", f.overlap);
    print_pair("device_disturbed", f.disturbed);
    print_text("\n");
#endif
}

/* What times and baud rates are made of, where this firmware sets it. */
static void print_clock(void)
{
    const char *trouble;
    const uint64_t hz = platform_clock_hz(&trouble);
    if (hz == 0u) { return; }
    print_text("clock: ");
    print_u64(hz);
    print_text(" Hz");
    if (trouble != 0) {
        print_text(", NOT full speed: waited in vain for ");
        print_text(trouble);
    }
    print_text("\n@aotc");
    print_pair("clock_hz", hz);
    print_pair("clock_failed", trouble != 0);
    print_text("\n");
}

static int demo(void)
{
    struct figures figures = {0, 0, 1, 0};
    const uint32_t count = sample_count != 0u ? sample_count : 1u;
    uint32_t sample;
    uint32_t i;
    print_text(NAME_OF_MODEL " on ");
    print_text(platform_board());
    print_text(sample_count != 0u ? "\n" : ": no samples stored, the input is all zero bytes\n");
    print_text("@aotc model=" NAME_OF_MODEL " board=");
    print_text(platform_board());
    print_pair("samples", sample_count);
    print_text("\n");
    print_clock();
    forget_runs();
    for (sample = 0; sample < count; ++sample) {
        int32_t status;
        prepare_arena();
        load_sample(sample);
        status = run_of_model(&inputs, &outputs, ARENA);
        if (status != 0) { return fail_run(status); }
        figures.guards = figures.guards && guards_intact();
        for (i = 0; i < OUTPUT_COUNT_OF_MODEL; ++i) { print_output(sample, &output_tensors[i]); }
    }
    if (self_test() != 0) { return EXIT_MODEL_FAILED; }
    (void)measure_model(&figures, load_first_sample);
    if (figures.status != 0) { return fail_run(figures.status); }
    print_figures(&figures);
    print_device_figures();
    print_op_times();
    return figures.guards ? EXIT_DONE : EXIT_MODEL_FAILED;
}

/* --- Verify --------------------------------------------------------------------------------- */

#if AOTC_VERIFY

static int fail_file(const char *what, const char *path)
{
    print_text(what);
    print_text(" '");
    print_text(path);
    print_text("'\n@aotc error=file\n");
    return EXIT_FILE;
}

static void store_u32(uint8_t *to, uint32_t value)
{
    memcpy(to, &value, sizeof value);
}

#define SAMPLE_RESETS 1u
#define SAMPLE_HAS_STATE 2u

/* What the model keeps, before a sample's inputs: as the last run left it, as before a first run, or
 * as the file has it. */
static int read_state(intptr_t file)
{
#ifdef STATE_SIZE_OF_MODEL
    uint32_t flags;
    if (platform_read(file, &flags, (uint32_t)sizeof flags) != 0) { return -1; }
    if ((flags & SAMPLE_RESETS) != 0u) { forget_runs(); }
    if ((flags & SAMPLE_HAS_STATE) != 0u) {
        return platform_read(file, state_of_model, STATE_SIZE_OF_MODEL);
    }
#else
    (void)file;
#endif
    return 0;
}

static int read_sample(intptr_t file)
{
#ifdef ROWS_OF_MODEL
    if (read_state(file) != 0) { return -1; }
    rows.has_file = 1;
    rows.file = file;
#else
    uint32_t i;
    if (read_state(file) != 0) { return -1; }
    for (i = 0; i < INPUT_COUNT_OF_MODEL; ++i) {
        if (platform_read(file, input_tensors[i].data, input_tensors[i].bytes) != 0) { return -1; }
    }
#endif
    return 0;
}

static void write_outputs(void)
{
    uint32_t i;
    for (i = 0; i < OUTPUT_COUNT_OF_MODEL; ++i) {
        write_record(RECORD_OUTPUT, i, output_tensors[i].data, output_tensors[i].bytes);
    }
}

static const char *input_path;
static int layers_too; /* `verify`, not `outputs` */

/* A handle of the file of inputs, behind its header; negative after saying what is wrong. */
static intptr_t open_inputs(uint32_t *samples)
{
    uint32_t head[2];
    const intptr_t in = platform_open(input_path, PLATFORM_READ);
    if (in < 0) {
        (void)fail_file("cannot open", input_path);
        return -1;
    }
    if (platform_read(in, head, (uint32_t)sizeof head) != 0 || head[0] != INPUT_MAGIC) {
        (void)fail_file("not a file of inputs:", input_path);
        (void)platform_close(in);
        return -1;
    }
    *samples = head[1];
    return in;
}

/* From the file again: a copy of the inputs would need memory. */
static int read_first_sample(void)
{
    uint32_t samples;
    int failed;
    const intptr_t in = open_inputs(&samples);
    if (in < 0) { return -1; }
    failed = read_sample(in);
#ifdef ROWS_OF_MODEL
    rows.closes = !failed;
    if (!failed) { return 0; }
#endif
    return platform_close(in) != 0 || failed;
}

/* Sample 0 is also the one that is measured, when all have run. */
static int verify_samples(intptr_t in, uint32_t samples, struct figures *figures)
{
    uint32_t sample;
    for (sample = 0; sample < samples; ++sample) {
        int32_t status;
        prepare_arena();
        if (read_sample(in) != 0) { return -1; }
        trace.sample = sample;
        trace.timing = sample == 0u;
        trace.recording = layers_too;
        status = run_traced();
        trace.recording = 0;
        trace.timing = 0;
        figures->guards = figures->guards && guards_intact();
        if (status != 0) {
            figures->status = status;
            return 0;
        }
        write_outputs();
    }
    return samples != 0u ? measure_model(figures, read_first_sample) : 0;
}

/* Operator times of sample 0, then {i32 status, u32 stack, u32 guards, u32 0, u64 length}. */
static void write_figures(uint32_t samples, const struct figures *figures)
{
    uint8_t summary[24];
    uint32_t op;
    trace.sample = 0;
    for (op = 0; op < CALL_COUNT_OF_MODEL; ++op) {
        write_record(RECORD_TIMING, op, &trace.ticks[op], (uint32_t)sizeof trace.ticks[op]);
    }
    store_u32(summary, (uint32_t)figures->status);
    store_u32(summary + 4, figures->stack_bytes);
    store_u32(summary + 8, figures->guards ? 1u : 0u);
    store_u32(summary + 12, 0u);
    memcpy(summary + 16, &figures->length, sizeof figures->length);
    trace.sample = samples;
    write_record(RECORD_SUMMARY, 0u, summary, (uint32_t)sizeof summary);
}

/* IN: u32 magic, u32 samples, then for each sample the bytes of every input in order; of a model with
 * state u32 SAMPLE_... flags before them and, if those say so, the bytes of its state.
 * OUT: u32 magic, then records. */
static int verify(const char *in_path, const char *out_path, int layers)
{
    const uint32_t magic = OUTPUT_MAGIC;
    struct figures figures = {0, 0, 1, 0};
    uint32_t samples = 0;
    intptr_t in;
    input_path = in_path;
    layers_too = layers;
    in = open_inputs(&samples);
    if (in < 0) { return EXIT_FILE; }
    start_op_timing();
    trace.file = platform_open(out_path, PLATFORM_WRITE);
    if (trace.file < 0) { return fail_file("cannot create", out_path); }
    trace.failed = platform_write(trace.file, &magic, (uint32_t)sizeof magic) != 0;
    if (verify_samples(in, samples, &figures) != 0) {
        return fail_file("ends before the samples that it promises:", in_path);
    }
    write_figures(samples, &figures);
    if (platform_close(trace.file) != 0 || trace.failed) {
        return fail_file("cannot write", out_path);
    }
    return EXIT_DONE;
}

#else

static int verify(const char *in_path, const char *out_path, int layers)
{
    (void)layers;
    (void)in_path;
    (void)out_path;
    print_text("built with AOTC_VERIFY off: configure with -DAOTC_VERIFY=ON\n@aotc error=usage\n");
    return EXIT_USAGE;
}

#endif

int harness_main(int argc, char **argv)
{
    describe_tensors();
    if (argc <= 1) { return demo(); }
    if (argc == 4 && (strcmp(argv[1], "verify") == 0 || strcmp(argv[1], "outputs") == 0)) {
        return verify(argv[2], argv[3], argv[1][0] == 'v');
    }
    print_text("usage: no arguments, or: verify IN OUT, or: outputs IN OUT\n@aotc error=usage\n");
    return EXIT_USAGE;
}
