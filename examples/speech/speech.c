/* SPDX-License-Identifier: 0BSD */
#include "speech.h"

#include <string.h>

int32_t speech_init(struct speech *self)
{
    self->held = 0;
    self->rows = 0;
    self->oldest = 0;
    memset(self->scores, 0, sizeof self->scores);
    return front_end_init(self->state);
}

/* One frame of samples becomes a row of features, in the place of the oldest. */
static int32_t add_row(struct speech *self)
{
    const struct front_end_outputs outputs = { self->features[self->oldest] };
    int32_t status;
    memcpy(front_end_input_audio_frame(self->arena), self->frame, sizeof self->frame);
    status = front_end_run(NULL, &outputs, self->arena, self->state);
    self->oldest = (self->oldest + 1u) % SPEECH_ROWS;
    if (self->rows < SPEECH_ROWS) ++self->rows;
    return status;
}

/* All rows, the oldest first, are the classifier's input. */
static int32_t classify(struct speech *self)
{
    const struct classifier_outputs outputs = { self->scores };
    const uint32_t behind = SPEECH_ROWS - self->oldest;
    int8_t *input = classifier_input_reshape_1(self->arena);
    memcpy(input, self->features[self->oldest], behind * SPEECH_CHANNELS);
    memcpy(input + behind * SPEECH_CHANNELS, self->features[0], self->oldest * SPEECH_CHANNELS);
    return classifier_run(NULL, &outputs, self->arena);
}

int32_t speech_feed(struct speech *self, const int16_t *samples, uint32_t count, uint32_t *taken)
{
    const uint32_t room = SPEECH_FRAME - self->held;
    int32_t status;
    *taken = count < room ? count : room;
    memcpy(self->frame + self->held, samples, *taken * sizeof *samples);
    self->held += *taken;
    if (self->held < SPEECH_FRAME) return SPEECH_MORE;

    status = add_row(self);
    if (status != 0) return status < 0 ? status : -status;
    memmove(self->frame, self->frame + SPEECH_STEP, (SPEECH_FRAME - SPEECH_STEP) * sizeof *self->frame);
    self->held = SPEECH_FRAME - SPEECH_STEP;
    if (self->rows < SPEECH_ROWS) return SPEECH_ROW;

    status = classify(self);
    if (status != 0) return status < 0 ? status : -status;
    return SPEECH_SCORES;
}

uint32_t speech_label(const struct speech *self)
{
    uint32_t best = 0, i;
    for (i = 1; i < SPEECH_LABELS; ++i) {
        if (self->scores[i] > self->scores[best]) best = i;
    }
    return best;
}
