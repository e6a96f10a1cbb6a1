/* SPDX-License-Identifier: 0BSD */
/* From microphone samples to a label: a front end and a classifier, compiled apart, in one firmware.
 * Samples are mono, 16 bits, at the rate the front end is made for (micro_speech: 16 kHz). */
#ifndef SPEECH_H
#define SPEECH_H

#include <stdint.h>

#include "classifier.h"
#include "front_end.h"

/* One row of features is made of FRAME samples; the next one begins STEP samples later. */
#define SPEECH_FRAME FRONT_END_INPUT_AUDIO_FRAME_ELEMENTS
#ifndef SPEECH_STEP
#define SPEECH_STEP 320u
#endif
/* Features of a row, rows that the classifier looks at, labels. */
#define SPEECH_CHANNELS FRONT_END_OUTPUT_OUTPUT_0_ELEMENTS
#define SPEECH_ROWS (CLASSIFIER_INPUT_RESHAPE_1_ELEMENTS / SPEECH_CHANNELS)
#define SPEECH_LABELS CLASSIFIER_OUTPUT_LABELS_SOFTMAX_ELEMENTS

/* The models run one after the other, so they share one arena of the larger size. */
#define SPEECH_ARENA_SIZE \
    (FRONT_END_ARENA_SIZE > CLASSIFIER_ARENA_SIZE ? FRONT_END_ARENA_SIZE : CLASSIFIER_ARENA_SIZE)

/* What one microphone needs. */
struct speech {
    uint8_t arena[SPEECH_ARENA_SIZE] __attribute__((aligned(16)));
    /* What the front end keeps from frame to frame: its estimate of the noise. */
    uint8_t state[FRONT_END_STATE_SIZE] __attribute__((aligned(16)));
    int16_t frame[SPEECH_FRAME];                  /* the newest samples, `held` of them */
    int8_t features[SPEECH_ROWS][SPEECH_CHANNELS]; /* a ring: the oldest row is `oldest` */
    int8_t scores[SPEECH_LABELS];                 /* of the last run of the classifier */
    uint32_t held, rows, oldest;
};

enum { SPEECH_MORE = 0, SPEECH_ROW = 1, SPEECH_SCORES = 2 };

/* Makes it ready for the first sample. Returns 0, or a status of the front end. */
int32_t speech_init(struct speech *self);

/* Takes samples up to the end of the next frame; `taken` says how many of `count`. Returns
 *   SPEECH_MORE    all were taken, and the frame is not full yet
 *   SPEECH_ROW     there is a new row of features; the classifier waits for SPEECH_ROWS of them
 *   SPEECH_SCORES  there are new scores, of the last SPEECH_ROWS rows
 * or, below 0, the status of a model that failed. */
int32_t speech_feed(struct speech *self, const int16_t *samples, uint32_t count, uint32_t *taken);

/* The label with the highest score. */
uint32_t speech_label(const struct speech *self);

#endif
