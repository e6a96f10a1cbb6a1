/* SPDX-License-Identifier: 0BSD */
/* Answers the runner of the MLPerf Tiny benchmark: commands that end in '%' come in over the line,
 * lines go out, the last of every answer holds "m-ready".
 *
 * Nothing here knows the board: bytes come and go through serial.h, time comes from
 * platform_clock_now. Whatever comes in, the answer is an error line and "m-ready"; nothing is
 * echoed, nothing is written beyond a buffer and nothing waits but for the next byte. */
#include <string.h>

#include "harness.h"
#include "serial.h"

/* What is a network of the streaming benchmark is asked by files of its own, which say what they
 * take of this one. */
#define BENCHMARK_IS_@benchmark@
#ifdef BENCHMARK_IS_sww01
#include "streaming.h"
#define SHARED
#else
#define SHARED static
#endif

/* --- What is measured ----------------------------------------------------------------------- */

#define COUNT_ELEMENTS(field, c_type, elements, scale, zero_point) +(elements)
#define COUNT_BYTES(field, c_type, elements, scale, zero_point) +((elements) * (int)sizeof(c_type))
/* Only a float keeps the half of 3/2; only a signed integer has a -1 below 0. */
#define ELEMENT_KIND(c_type)                                                                       \
    ((float)((c_type)3 / (c_type)2) > 1.0f ? ELEMENT_FLOAT                                         \
     : (float)(c_type)-1 < 0.0f            ? ELEMENT_SIGNED                                        \
                                           : ELEMENT_UNSIGNED)
#define COUNT_FLOATS(field, c_type, elements, scale, zero_point)                                   \
    +(ELEMENT_KIND(c_type) == ELEMENT_FLOAT)
#define COUNT_SIGNED(field, c_type, elements, scale, zero_point)                                   \
    +(ELEMENT_KIND(c_type) == ELEMENT_SIGNED)

/* A benchmark says what the bytes of an input are and what its results are. */
enum {
    BENCHMARK_kws01, /* bytes of the input tensor; the scores */
    BENCHMARK_ic01,  /* pixels, 0 to 255; the scores */
    BENCHMARK_vww01, /* pixels, of which a float model sees 0 to 1; the scores */
    BENCHMARK_ad01,  /* floats; the mean squared error of their reconstruction */
    BENCHMARK_sww01, /* frames of 512 samples, without an end; whether a word is heard */
    BENCHMARK_raw,   /* any other model: bytes of the input tensors in order; the first output */

    INPUT_ELEMENTS = 0 FOR_EACH_INPUT_OF_MODEL(COUNT_ELEMENTS),
    INPUT_BYTES = 0 FOR_EACH_INPUT_OF_MODEL(COUNT_BYTES),
    INPUT_FLOATS = 0 FOR_EACH_INPUT_OF_MODEL(COUNT_FLOATS),
    INPUT_SIGNED = 0 FOR_EACH_INPUT_OF_MODEL(COUNT_SIGNED),
    OUTPUT_ELEMENTS = 0 FOR_EACH_OUTPUT_OF_MODEL(COUNT_ELEMENTS),

    BENCHMARK = BENCHMARK_@benchmark@,
    ONE_INPUT = (INPUT_COUNT_OF_MODEL == 1) && (OUTPUT_COUNT_OF_MODEL == 1),

    PIXELS = BENCHMARK == BENCHMARK_ic01 || BENCHMARK == BENCHMARK_vww01,
    WINDOW = BENCHMARK == BENCHMARK_ad01,
    STREAM = BENCHMARK == BENCHMARK_sww01,
    /* What the host sends for one inference. */
    DATA_BYTES = PIXELS   ? INPUT_ELEMENTS
                 : WINDOW ? INPUT_ELEMENTS * 4
                 : STREAM ? 512 * 2
                          : INPUT_BYTES,
    /* Pixels of an int8 model are stored as the tensor has them, 128 less: one bit of each. */
    STORED_FLIP = PIXELS && INPUT_SIGNED ? 0x80 : 0,
    /* Where the tensor's bytes are not what was stored. */
    IS_CONVERTED = (PIXELS && INPUT_FLOATS) || (WINDOW && !INPUT_FLOATS),
    CONVERTED_BYTES = IS_CONVERTED ? INPUT_BYTES : 1
};

/* An error here: the model does not have the one input, of bytes or floats, that the benchmark
 * has, or does not give one value for each of the window. */
typedef char the_model_is_not_of_this_benchmark
    [BENCHMARK == BENCHMARK_raw || BENCHMARK == BENCHMARK_kws01 ||
             (ONE_INPUT && (INPUT_FLOATS || INPUT_BYTES == INPUT_ELEMENTS) &&
              (!WINDOW || OUTPUT_ELEMENTS == INPUT_ELEMENTS) &&
              (!STREAM || INPUT_ELEMENTS == 30 * 40))
         ? 1
         : -1];

static const char *benchmark_name(void)
{
    switch (BENCHMARK) {
    case BENCHMARK_kws01: return "kws01";
    case BENCHMARK_ic01: return "ic01";
    case BENCHMARK_vww01: return "vww01";
    case BENCHMARK_ad01: return "ad01";
    case BENCHMARK_sww01: return "sww01";
    default: return NAME_OF_MODEL;
    }
}

/* --- The model ------------------------------------------------------------------------------ */

#define DECLARE_BUFFER(field, c_type, elements, scale, zero_point)                                 \
    c_type field[elements] __attribute__((aligned(16)));
#define POINT_TO_INPUT(field, c_type, elements, scale, zero_point) input_buffers.field,
#define POINT_TO_OUTPUT(field, c_type, elements, scale, zero_point) output_buffers.field,
#define DESCRIBE(field, data, c_type, count, scale, zero_point)                                    \
    *at++ = (struct tensor){#field,                                                                \
                            (void *)(uintptr_t)(data),                                             \
                            (uint32_t)(count),                                                     \
                            (uint32_t)((count) * sizeof(c_type)),                                  \
                            (float)(scale),                                                        \
                            (int32_t)(zero_point),                                                 \
                            ELEMENT_KIND(c_type)};

SHARED uint8_t arena[ARENA_SIZE_OF_MODEL]
    __attribute__((aligned(ARENA_ALIGN_OF_MODEL), section(".bss.arena")));

#if INPUT_IN_ARENA_OF_MODEL
SHARED const inputs_of_model inputs;
#define DESCRIBE_INPUT(field, c_type, count, scale, zero_point)                                    \
    DESCRIBE(field, INPUT_OF_MODEL(field, arena), c_type, count, scale, zero_point)
#else
static struct {
    FOR_EACH_INPUT_OF_MODEL(DECLARE_BUFFER)
} input_buffers;
SHARED const inputs_of_model inputs = {FOR_EACH_INPUT_OF_MODEL(POINT_TO_INPUT)};
#define DESCRIBE_INPUT(field, c_type, count, scale, zero_point)                                    \
    DESCRIBE(field, input_buffers.field, c_type, count, scale, zero_point)
#endif

#if OUTPUT_IN_ARENA_OF_MODEL
SHARED const outputs_of_model outputs;
#define DESCRIBE_OUTPUT(field, c_type, count, scale, zero_point)                                   \
    DESCRIBE(field, OUTPUT_OF_MODEL(field, arena), c_type, count, scale, zero_point)
#else
static struct {
    FOR_EACH_OUTPUT_OF_MODEL(DECLARE_BUFFER)
} output_buffers;
SHARED const outputs_of_model outputs = {FOR_EACH_OUTPUT_OF_MODEL(POINT_TO_OUTPUT)};
#define DESCRIBE_OUTPUT(field, c_type, count, scale, zero_point)                                   \
    DESCRIBE(field, output_buffers.field, c_type, count, scale, zero_point)
#endif

/* One more than there are: an array of none is not C. */
SHARED struct tensor input_tensors[INPUT_COUNT_OF_MODEL + 1];
SHARED struct tensor output_tensors[OUTPUT_COUNT_OF_MODEL + 1];

static void describe_tensors(void)
{
    struct tensor *at = input_tensors;
    FOR_EACH_INPUT_OF_MODEL(DESCRIBE_INPUT)
    at = output_tensors;
    FOR_EACH_OUTPUT_OF_MODEL(DESCRIBE_OUTPUT)
    (void)at;
}

/* What `db` fills. */
static uint8_t data[DATA_BYTES + 1] __attribute__((aligned(16)));
static uint32_t data_expected;
static uint32_t data_received;
static uint8_t converted[CONVERTED_BYTES] __attribute__((aligned(16)));
static int has_results;

static float data_float(uint32_t i)
{
    float value;
    (void)memcpy(&value, data + 4u * i, sizeof value);
    return value;
}

/* Rounds half away from zero, as QUANTIZE does; the limits hold not-a-number as well. */
static int32_t quantised(float value, const struct tensor *t)
{
    const int32_t least = t->kind == ELEMENT_SIGNED ? -128 : 0;
    const float steps = value / t->scale;
    int32_t whole;
    float rest;
    if (!(steps > -512.0f)) { return least; }
    if (steps > 512.0f) { return least + 255; }
    whole = (int32_t)steps;
    rest = steps - (float)whole;
    whole += rest >= 0.5f ? 1 : rest <= -0.5f ? -1 : 0;
    whole += t->zero_point;
    return whole < least ? least : whole > least + 255 ? least + 255 : whole;
}

/* From what was stored to what the input tensor holds, where these differ. */
static void convert_data(void)
{
    const float one = BENCHMARK == BENCHMARK_vww01 ? 1.0f / 255.0f : 1.0f;
    uint32_t i;
    if (!IS_CONVERTED) { return; }
    for (i = 0; i < (uint32_t)INPUT_ELEMENTS; ++i) {
        if (INPUT_FLOATS) {
            const float value = (float)data[i] * one;
            (void)memcpy(converted + sizeof value * i, &value, sizeof value);
        } else {
            converted[i] = (uint8_t)quantised(data_float(i), input_tensors);
        }
    }
}

#ifdef BENCHMARK_IS_sww01
static int32_t run(uint32_t count)
{
    int32_t status = 0;
    while (count-- != 0u && status == 0) { status = streaming_hear(data); }
    return status;
}

static void fill_inputs(void) {}
#else
static void fill_inputs(void)
{
    const uint8_t *from = IS_CONVERTED ? converted : data;
    const struct tensor *t;
    for (t = input_tensors; t != input_tensors + INPUT_COUNT_OF_MODEL; ++t) {
        (void)memcpy(t->data, from, t->bytes);
        from += t->bytes;
    }
}

/* Of `count` runs; stops at a status that is not 0. */
static int32_t run(uint32_t count)
{
    int32_t status = 0;
    while (count-- != 0u && status == 0) {
        if (INPUT_IN_ARENA_OF_MODEL) { fill_inputs(); }
        status = run_of_model(&inputs, &outputs, arena);
    }
    return status;
}
#endif

SHARED float element(const struct tensor *t, uint32_t i)
{
    const uint32_t size = t->bytes / t->elements;
    const uint8_t *at = (const uint8_t *)t->data + i * size;
    uint64_t bits = 0;
    float value;
    if (t->kind == ELEMENT_FLOAT && size == sizeof value) {
        (void)memcpy(&value, at, sizeof value);
        return value;
    }
    (void)memcpy(&bits, at, size);
    if (t->kind == ELEMENT_SIGNED && size < 8u && (bits >> (8u * size - 1u)) != 0u) {
        bits |= ~(uint64_t)0 << (8u * size);
    }
    value = (float)((int64_t)bits - t->zero_point);
    return t->scale > 0.0f ? value * t->scale : value;
}

/* Volatile, so that no compiler makes one rounding of two. */
static float reconstruction_error(void)
{
    float sum = 0.0f;
    uint32_t i;
    for (i = 0; i < output_tensors->elements; ++i) {
        const volatile float value = element(output_tensors, i);
        const volatile float difference = value - data_float(i);
        const volatile float square = difference * difference;
        sum += square;
    }
    return sum / (float)output_tensors->elements;
}

/* --- Writing -------------------------------------------------------------------------------- */

SHARED void put_text(const char *text)
{
    serial_put((const uint8_t *)text, (uint32_t)strlen(text));
}

SHARED void put_number(uint64_t value)
{
    char digits[21];
    char *at = digits + sizeof digits;
    *--at = 0;
    do {
        *--at = (char)('0' + (int)(value % 10u));
        value /= 10u;
    } while (value != 0u);
    put_text(at);
}

static void end_line(void)
{
    put_text("\r\n");
}

SHARED void put_line(const char *text)
{
    put_text(text);
    end_line();
}

SHARED void put_numbered(const char *before, uint64_t value, const char *behind)
{
    put_text(before);
    put_number(value);
    put_line(behind);
}

/* What came in, where it may hold anything. */
static void put_quoted(const char *text)
{
    for (; *text != 0; ++text) {
        const char shown[2] = {*text >= 0x20 && *text < 0x7F ? *text : '?', 0};
        put_text(shown);
    }
}

/* digits * 10^exponent, without zeros at the end. */
static void put_decimal(uint32_t digits, int exponent)
{
    char text[11];
    char *at = text + sizeof text;
    int count = 0;
    int whole;
    *--at = 0;
    for (; digits != 0u; digits /= 10u) {
        if (count == 0 && digits % 10u == 0u) {
            ++exponent;
            continue;
        }
        *--at = (char)('0' + (int)(digits % 10u));
        ++count;
    }
    whole = count + exponent; /* digits before the point */
    if (whole < -8 || whole > 12) {
        put_text(at);
        put_text(exponent < 0 ? "e-" : "e");
        put_number((uint64_t)(exponent < 0 ? -exponent : exponent));
        return;
    }
    if (whole <= 0) { put_text("0."); }
    for (; whole < 0; ++whole) { put_text("0"); }
    for (; *at != 0; ++at) {
        const char shown[2] = {*at, 0};
        put_text(shown);
        if (--whole == 0 && exponent < 0) { put_text("."); }
    }
    for (; exponent > 0; --exponent) { put_text("0"); }
}

/* Nine digits: no two floats have the same nine. In integers, because not every C library of a
 * microcontroller prints floats. */
static void put_float(float value)
{
    uint32_t bits;
    uint64_t mantissa;
    int two;     /* |value| = mantissa * 2^two * 10^ten, the top bit of mantissa is set */
    int ten = 0;
    (void)memcpy(&bits, &value, sizeof bits);
    if ((bits >> 31) != 0u) { put_text("-"); }
    two = (int)((bits >> 23) & 0xFFu);
    mantissa = bits & 0x7FFFFFu;
    if (two == 255) {
        put_text(mantissa != 0u ? "nan" : "inf");
        return;
    }
    if (two != 0) { mantissa |= 0x800000u; }
    if (mantissa == 0u) {
        put_text("0.0");
        return;
    }
    two = (two != 0 ? two : 1) - 150;
    for (;;) {
        while ((mantissa >> 63) == 0u) {
            mantissa <<= 1;
            --two;
        }
        if (two < -63 || (two < -33 && (mantissa >> -two) < 100000000u)) {
            mantissa = (mantissa >> 4) * 10u;
            two += 4;
            --ten;
        } else if (two > -34 || (mantissa >> -two) >= 1000000000u) {
            mantissa /= 10u;
            ++ten;
        } else {
            break;
        }
    }
    put_decimal((uint32_t)(mantissa >> -two) + (uint32_t)((mantissa >> (-two - 1)) & 1u), ten);
}

/* --- Commands ------------------------------------------------------------------------------- */

#define COMMAND_BYTES (STREAM ? 1028u : 80u)
#define MOST_INFERENCES 1000000u
#define DEFAULT_WARMUPS 10u

/* Cuts the next word off; null if there is none. */
static char *next_word(char **rest)
{
    char *word = *rest;
    char *end;
    while (*word == ' ') { ++word; }
    if (*word == 0) { return 0; }
    for (end = word; *end != 0 && *end != ' '; ++end) {}
    *rest = *end == 0 ? end : end + 1;
    *end = 0;
    return word;
}

/* 0 if the word is not a number of at most nine digits. */
static int number(const char *word, uint32_t *value)
{
    uint32_t count;
    *value = 0;
    for (count = 0; word[count] >= '0' && word[count] <= '9' && count < 9u; ++count) {
        *value = *value * 10u + (uint32_t)(word[count] - '0');
    }
    return count != 0u && word[count] == 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') { return c - '0'; }
    if (c >= 'a' && c <= 'f') { return c - 'a' + 10; }
    if (c >= 'A' && c <= 'F') { return c - 'A' + 10; }
    return -1;
}

static void put_lap(uint64_t nanoseconds)
{
    put_numbered("m-lap-us-", nanoseconds / 1000u, "");
}

static void put_results(void)
{
    uint32_t i;
    if (!has_results) {
        put_line("e-[There are no results: nothing was inferred from this data]");
        return;
    }
    put_text("m-results-[");
    if (WINDOW) {
        put_float(reconstruction_error());
    } else {
        for (i = 0; i < (uint32_t)OUTPUT_COUNT_OF_MODEL * output_tensors->elements; ++i) {
            if (i != 0u) { put_text(","); }
            put_float(element(output_tensors, i));
        }
    }
    put_line("]");
}

SHARED void put_status(int32_t status)
{
    put_text("e-[The model failed with status ");
    if (status < 0) { put_text("-"); }
    put_numbered("", status < 0 ? 0u - (uint32_t)status : (uint32_t)status, "]");
}

/* Both laps are written behind the second, so that the line does not take part. */
static void measure(uint32_t count, uint32_t warmups)
{
    uint64_t start;
    uint64_t end;
    int32_t status;
    convert_data();
    fill_inputs();
    put_numbered("m-warmup-start-", warmups, "");
    status = run(warmups);
    put_line("m-warmup-done");
    put_numbered("m-infer-start-", count, "");
    start = platform_clock_now();
    if (status == 0) { status = run(count); }
    end = platform_clock_now();
    if (status != 0) {
        put_status(status);
        return;
    }
    put_lap(start);
    put_lap(end);
    put_line("m-infer-done");
    has_results = 1;
    put_results();
}

static void infer(char *rest)
{
    uint32_t count = 1;
    uint32_t warmups = DEFAULT_WARMUPS;
    char *word = next_word(&rest);
    has_results = 0;
    if (word != 0 && (!number(word, &count) || count == 0u || count > MOST_INFERENCES)) {
        put_line("e-[Inference iterations must be >0 and at most 1000000]");
        return;
    }
    word = next_word(&rest);
    if (word != 0 && (!number(word, &warmups) || warmups > MOST_INFERENCES)) {
        put_line("e-[Inference warmup must be >=0 and at most 1000000]");
        return;
    }
    if (data_received != (uint32_t)DATA_BYTES) {
        put_text("e-[The buffer holds ");
        put_number(data_received);
        put_numbered(" bytes, expected ", (uint64_t)DATA_BYTES, "]");
        return;
    }
    measure(count, warmups);
}

static void db_load(const char *size)
{
    uint32_t bytes;
    data_expected = 0;
    data_received = 0;
    has_results = 0;
    if (size == 0) {
        put_line("e-[Command 'db load' requires the # of bytes]");
    } else if (!number(size, &bytes) || bytes == 0u) {
        put_line("e-[Command 'db load' must be >0 bytes]");
    } else if (bytes > (uint32_t)DATA_BYTES) {
        put_text("e-[Supplied buffer size ");
        put_number(bytes);
        put_numbered(" exceeds maximum of ", (uint64_t)DATA_BYTES, "]");
    } else {
        data_expected = bytes;
        put_numbered("m-[Expecting ", bytes, " bytes]");
    }
}

static void db_print(void)
{
    static const char hex[] = "0123456789abcdef";
    uint32_t i;
    for (i = 0; i < data_received; ++i) {
        const uint8_t byte = data[i] ^ (uint8_t)STORED_FLIP;
        const char shown[4] = {i % 8u == 0u ? 0 : '-', hex[byte >> 4], hex[byte & 15u], 0};
        if (i % 8u == 0u) { put_text("m-buffer-"); }
        put_text(shown[0] == 0 ? shown + 1 : shown);
        if (i % 8u == 7u || i + 1u == data_received) { end_line(); }
    }
}

/* All of the digits are stored, or none. */
static void db_bytes(const char *digits)
{
    const uint32_t count = (uint32_t)strlen(digits);
    uint32_t i;
    if (data_received == data_expected) {
        put_line("e-[No data expected: 'db load' comes first]");
        return;
    }
    if (count % 2u != 0u) {
        put_line("e-[Insufficent number of hex digits]");
        return;
    }
    for (i = 0; i < count; ++i) {
        if (hex_digit(digits[i]) < 0) {
            put_text("e-[Invalid hex digit '");
            put_quoted(digits + i);
            put_line("']");
            return;
        }
    }
    if (count / 2u > data_expected - data_received) {
        put_numbered("e-[More than the ", data_expected, " bytes expected]");
        return;
    }
    for (i = 0; i < count; i += 2u) {
        const int byte = hex_digit(digits[i]) * 16 + hex_digit(digits[i + 1u]);
        data[data_received++] = (uint8_t)(byte ^ STORED_FLIP);
    }
    if (data_received == data_expected) {
        put_line("m-load-done");
    } else if (STREAM) {
        put_numbered("", data_received, " bytes received");
    }
}

/* A host that lost an answer sends again from where it knows of. */
static void db_from(const char *word)
{
    uint32_t bytes;
    if (word == 0 || !number(word, &bytes) || bytes > data_expected) {
        put_numbered("e-[Command 'db setptr' takes a number up to ", data_expected, "]");
    } else {
        data_received = bytes;
    }
}

static void db(char *rest)
{
    const char *word = next_word(&rest);
    if (word == 0) {
        put_line("e-[Command 'db' requires a subcommand]");
    } else if (strcmp(word, "load") == 0) {
        db_load(next_word(&rest));
    } else if (strcmp(word, "print") == 0) {
        db_print();
    } else if (STREAM && strcmp(word, "getptr") == 0) {
        put_numbered("m-buff-ptr-", data_received, "");
    } else if (STREAM && strcmp(word, "setptr") == 0) {
        db_from(next_word(&rest));
    } else {
        db_bytes(word);
    }
}

/* 0 if the command is none that only the streaming benchmark has. */
static int answer_stream(const char *word)
{
#ifdef BENCHMARK_IS_sww01
    return streaming_answer(word, data_received == (uint32_t)DATA_BYTES ? data : 0);
#else
    (void)word;
    return 0;
#endif
}

static void help(void)
{
    put_line("name, profile, timestamp: what this is, what it runs, the time");
    put_line("db load N, db HEX, db print: the input");
    if (STREAM) {
        put_line("start, stop, frame: detection, and of the samples that db loaded");
        put_line("extract_uart_stream: features and scores of these samples");
    }
    put_line("infer N W: N inferences after W that are not measured");
    put_line("results: of the last inference");
}

static void answer(char *rest)
{
    const char *word;
    if (STREAM) {
        put_text("Received command: ");
        put_quoted(rest);
        end_line();
    }
    word = next_word(&rest);
    if (word == 0) {
        put_line("e-[Unknown command: ]");
    } else if (strcmp(word, "name") == 0) {
        put_text("m-name-dut-[");
        put_text(platform_board());
        put_line("]");
    } else if (strcmp(word, "profile") == 0) {
        put_line("m-profile-[ULPMark for tinyML Firmware V0.0.1]");
        put_text("m-model-[");
        put_text(benchmark_name());
        put_line("]");
    } else if (strcmp(word, "timestamp") == 0) {
        put_lap(platform_clock_now());
    } else if (strcmp(word, "db") == 0) {
        db(rest);
    } else if (answer_stream(word)) {
        return;
    } else if (strcmp(word, "infer") == 0) {
        infer(rest);
    } else if (strcmp(word, "results") == 0) {
        put_results();
    } else if (strcmp(word, "help") == 0) {
        help();
    } else {
        put_text("e-[Unknown command: ");
        put_quoted(word);
        put_line("]");
    }
}

int harness_main(int argc, char **argv)
{
    static char command[COMMAND_BYTES + 1u];
    uint32_t length = 0;
    int byte;
    (void)argc;
    (void)argv;
    serial_initialise();
    describe_tensors();
#ifdef BENCHMARK_IS_sww01
    streaming_initialise();
#endif
    put_line("m-timestamp-mode-performance");
    put_lap(platform_clock_now());
    put_line("m-init-done");
    put_line("m-ready");
    while ((byte = serial_get()) >= 0) {
        if (byte == '%') {
            command[length <= COMMAND_BYTES ? length : 0u] = 0;
            if (length > COMMAND_BYTES) {
                put_numbered("e-[A command has at most ", COMMAND_BYTES, " characters]");
            } else {
                answer(command);
            }
            put_line("m-ready");
            length = 0;
        } else if (length != 0u || (byte != '\r' && byte != '\n' && byte != 0)) {
            if (length < COMMAND_BYTES) { command[length] = byte != 0 ? (char)byte : '?'; }
            if (length <= COMMAND_BYTES) { ++length; }
        }
    }
    return 0;
}
