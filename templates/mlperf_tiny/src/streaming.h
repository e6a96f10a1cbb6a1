/* SPDX-License-Identifier: 0BSD */
/* The streaming benchmark, sww01: a network that listens all the time, a frame of audio after
 * another. Parts: features.c makes of audio what the network hears, streaming.c asks the network
 * and answers the commands, pins.c has the pins, benchmark.c the other commands and the line. */
#ifndef INCLUDED_STREAMING
#define INCLUDED_STREAMING

#include "harness.h"

enum {
    FRAME_SAMPLES = 512, /* new ones of a frame: 32 ms of 16 kHz */
    WINDOW_SAMPLES = 1024,
    BANDS = 40 /* features of a frame */
};

/* --- features.c ----------------------------------------------------------------------------- */

void features_initialise(void);
/* Of the window behind the first sample, which the first difference needs; each is 0 to 1. */
void features_of(const int16_t samples[WINDOW_SAMPLES + 1], float features[BANDS]);

/* --- streaming.c ---------------------------------------------------------------------------- */

void streaming_initialise(void);
/* A frame that came in between start and stop: the network runs, the pins follow. From wherever a
 * board's audio comes: one sample in `stride` is of the channel, 2 of stereo. */
void streaming_frame(const int16_t *samples, uint32_t stride);
/* Of a frame as `db` has it, outside of start and stop; 0, or the model's status. */
int32_t streaming_hear(const uint8_t *frame);
/* 0 if the command is none of this benchmark's. `frame`: what `db` has loaded, null if that is not
 * a frame. */
int streaming_answer(const char *word, const uint8_t *frame);

/* --- pins.c --------------------------------------------------------------------------------- */

/* What the interface board watches. The first is high while a frame is processed; the second is
 * high, and low for a microsecond when the word was heard. */
enum pin { PIN_PROCESSING, PIN_DETECTED };

void pins_initialise(void);
void pin_set(enum pin which, int level);
/* Behind a frame that came in over the line. */
void pins_tell(void);

/* --- benchmark.c ---------------------------------------------------------------------------- */

extern struct tensor input_tensors[];
extern struct tensor output_tensors[];
extern const inputs_of_model inputs;
extern const outputs_of_model outputs;
extern uint8_t arena[];

float element(const struct tensor *t, uint32_t i);
void put_text(const char *text);
void put_number(uint64_t value);
void put_line(const char *text);
void put_numbered(const char *before, uint64_t value, const char *behind);
void put_status(int32_t status);

#endif
