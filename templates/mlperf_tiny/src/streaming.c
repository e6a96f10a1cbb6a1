/* SPDX-License-Identifier: 0BSD */
/* Asks the network of the streaming benchmark once a frame, and answers the commands of its runner.
 *
 * A model whose windows stay from frame to frame (`--stream time`) is fed one frame; another is run
 * on the last 30. Before the first frame both have heard frames of zeros. */
#include <string.h>

#include "streaming.h"

#define THRESHOLD @threshold@ /* of 256: a score above it is the word */
#define MOST_ACTIVATIONS @activations@u

#define COUNT_BYTES(field, c_type, elements, scale, zero_point) +((elements) * (int)sizeof(c_type))
enum { INPUT_BYTES = 0 FOR_EACH_INPUT_OF_MODEL(COUNT_BYTES) };

static int16_t heard[WINDOW_SAMPLES + 1];
static float features[BANDS];
static int is_streaming;
static int is_begun;
static int is_first;
static int32_t status;
static int8_t activations[MOST_ACTIVATIONS + 1u];
static uint32_t activation_count;

/* --- The network ---------------------------------------------------------------------------- */

#if STREAMS_IN_TIME_OF_MODEL
static context_of_model context;

static int32_t feed(const uint8_t *frame, uint32_t bytes)
{
    int32_t done;
    (void)memcpy(row_of_model(&context), frame, bytes);
    done = feed_of_model(&context);
#ifdef MORE_OF_MODEL
    while (done == MORE_OF_MODEL) { done = step_of_model(&context); }
#endif
    return done;
}

static int32_t begin(uint32_t frames, const uint8_t *zeros, uint32_t bytes)
{
    int32_t done = begin_of_model(&context, &outputs, arena);
    for (; frames > 1u && done >= 0; --frames) { done = feed(zeros, bytes); }
    return done < 0 ? done : 0;
}

static int32_t next(const uint8_t *frame, uint32_t bytes)
{
    const int32_t done = feed(frame, bytes);
    return done < 0 ? done : 0;
}
#else
static uint8_t last_frames[INPUT_BYTES];

static int32_t begin(uint32_t frames, const uint8_t *zeros, uint32_t bytes)
{
    (void)frames;
    (void)zeros;
    (void)bytes;
    (void)memset(last_frames, 0, sizeof last_frames);
    return 0;
}

static int32_t next(const uint8_t *frame, uint32_t bytes)
{
    const uint32_t kept = (uint32_t)sizeof last_frames - bytes;
    (void)memmove(last_frames, last_frames + bytes, kept);
    (void)memcpy(last_frames + kept, frame, bytes);
    (void)memcpy(input_tensors->data, last_frames, sizeof last_frames);
    return run_of_model(&inputs, &outputs, arena);
}
#endif

/* Towards zero, as the benchmark's training and its own firmware do; what is too loud stays loud. */
static int32_t step_of(float feature)
{
    const struct tensor *t = input_tensors;
    const int32_t most = t->kind == ELEMENT_SIGNED ? 127 : 255;
    const int32_t step = (int32_t)(feature / t->scale + (float)t->zero_point);
    return step < most ? step : most;
}

static void store(uint8_t *frame)
{
    uint32_t i;
    for (i = 0; i < BANDS; ++i) {
        if (input_tensors->kind == ELEMENT_FLOAT) {
            (void)memcpy(frame + i * sizeof(float), features + i, sizeof(float));
        } else {
            frame[i] = (uint8_t)step_of(features[i]);
        }
    }
}

/* A score in 256ths, less 128: the element itself of the benchmark's int8 model. */
static int32_t activation(uint32_t i)
{
    const float score = element(output_tensors, i) * 256.0f;
    const int32_t steps = score > 255.0f ? 255 : score > 0.0f ? (int32_t)score : 0;
    return steps - 128;
}

static void forget(void)
{
    static const uint8_t zeros[BANDS * sizeof(float)];
    const uint32_t bytes = BANDS * (input_tensors->kind == ELEMENT_FLOAT ? 4u : 1u);
    (void)memset(heard, 0, sizeof heard);
    status = begin(input_tensors->bytes / bytes, zeros, bytes);
    activation_count = 0;
    is_begun = 1;
    is_first = 1;
}

static void hear(const int16_t *samples, uint32_t stride)
{
    uint8_t frame[BANDS * sizeof(float)];
    const uint32_t bytes = BANDS * (input_tensors->kind == ELEMENT_FLOAT ? 4u : 1u);
    uint32_t i;
    (void)memmove(heard, heard + FRAME_SAMPLES, (WINDOW_SAMPLES + 1 - FRAME_SAMPLES) * sizeof *heard);
    for (i = 0; i < FRAME_SAMPLES; ++i) {
        heard[WINDOW_SAMPLES + 1 - FRAME_SAMPLES + i] = samples[i * stride];
    }
    features_of(heard, features);
    store(frame);
    status = next(frame, bytes);
}

void streaming_frame(const int16_t *samples, uint32_t stride)
{
    const uint64_t microsecond = 1000u;
    if (!is_streaming || status != 0) { return; }
    pin_set(PIN_PROCESSING, 1);
    hear(samples, stride);
    /* The first frame is told in any case: times count from it. */
    if (is_first || activation(0) + 128 > THRESHOLD) {
        const uint64_t start = platform_clock_now();
        pin_set(PIN_DETECTED, 0);
        while (platform_clock_now() - start < microsecond) {}
        pin_set(PIN_DETECTED, 1);
    }
    is_first = 0;
    if (activation_count != MOST_ACTIVATIONS) {
        activations[activation_count++] = (int8_t)activation(0);
    }
    pin_set(PIN_PROCESSING, 0);
}

/* --- Commands ------------------------------------------------------------------------------- */

static void put_signed(int32_t value)
{
    if (value < 0) { put_text("-"); }
    put_number(value < 0 ? 0u - (uint32_t)value : (uint32_t)value);
}

static void put_list(const char *name, int32_t (*value)(uint32_t), uint32_t count)
{
    uint32_t i;
    put_text(name);
    put_text("[");
    for (i = 0; i < count; ++i) {
        if (i != 0u) { put_text(i % 16u == 0u ? ",\r\n" : ", "); }
        put_signed(value(i));
    }
    put_line("]");
}

static int32_t stored_activation(uint32_t i)
{
    return activations[i];
}

/* A float model's are shown as those of the int8 model would be. */
static int32_t shown_feature(uint32_t i)
{
    return input_tensors->kind == ELEMENT_FLOAT ? (int32_t)(features[i] * 255.0f - 128.0f)
                                                : step_of(features[i]);
}

static void start(void)
{
    if (is_streaming) {
        put_line("e-[Detection runs: 'stop' comes first]");
        return;
    }
    forget();
    is_streaming = 1;
    put_line("Listening for audio");
}

static void stop(void)
{
    if (!is_streaming) {
        put_line("Detection does not run: nothing to stop");
        return;
    }
    is_streaming = 0;
    is_begun = 0;
    if (status != 0) { put_status(status); }
    put_line("Streaming stopped.");
    put_line("target activations:");
    put_list("", stored_activation, activation_count);
}

/* Low bytes first, whatever this machine has first. */
static const int16_t *samples_of(const uint8_t *frame)
{
    static int16_t samples[FRAME_SAMPLES];
    uint32_t i;
    for (i = 0; i < FRAME_SAMPLES; ++i) {
        samples[i] = (int16_t)(frame[2u * i] | frame[2u * i + 1u] << 8);
    }
    return samples;
}

int32_t streaming_hear(const uint8_t *frame)
{
    if (!is_begun) { forget(); }
    if (status == 0) { hear(samples_of(frame), 1u); }
    return status;
}

/* The numbers of one frame lie in one line each. */
static void extract(const uint8_t *frame)
{
    uint32_t i;
    if (streaming_hear(frame) != 0) {
        put_status(status);
        return;
    }
    put_text("m-features-[");
    for (i = 0; i < BANDS; ++i) {
        if (i != 0u) { put_text(", "); }
        put_signed(shown_feature(i));
    }
    put_line("]");
    put_list("m-activations-", activation, output_tensors->elements);
}

static void frame_of_line(const uint8_t *frame, int is_extract)
{
    if (frame == 0) {
        put_numbered("e-[The buffer holds no frame: 'db load ", 2u * FRAME_SAMPLES, "' comes first]");
    } else if (is_extract && is_streaming) {
        put_line("e-[Detection runs: 'stop' comes first]");
    } else if (is_extract) {
        extract(frame);
    } else if (!is_streaming) {
        put_line("e-[Detection does not run: 'start' comes first]");
    } else {
        streaming_frame(samples_of(frame), 1u);
        pins_tell();
        if (status != 0) { put_status(status); }
    }
}

void streaming_initialise(void)
{
    features_initialise();
    pins_initialise();
}

int streaming_answer(const char *word, const uint8_t *frame)
{
    if (strcmp(word, "start") == 0) {
        start();
    } else if (strcmp(word, "stop") == 0) {
        stop();
    } else if (strcmp(word, "frame") == 0) {
        frame_of_line(frame, 0);
    } else if (strcmp(word, "extract_uart_stream") == 0) {
        frame_of_line(frame, 1);
    } else if (is_streaming && strcmp(word, "infer") == 0) {
        put_line("e-[Detection runs: 'stop' comes first]");
    } else {
        return 0;
    }
    return 1;
}
