/* SPDX-License-Identifier: 0BSD */
/* Reads samples (16 bits, little endian, no header) from the file SAMPLES in pieces, as a driver of a microphone
 * gives them, and prints the label whenever it changes. With RESULTS every row of features and all scores
 * are written to that file. */
#include <stdio.h>

#include "speech.h"

#ifndef SAMPLES
#define SAMPLES "samples.raw"
#endif
#define PIECE 1000u
#define RATE 16000u

static const char *const kLabels[] = { "silence", "unknown", "yes", "no" };

static struct speech speech;
static FILE *results;

static int record(int32_t event)
{
    const uint32_t last = (speech.oldest + SPEECH_ROWS - 1u) % SPEECH_ROWS;
    if (results == NULL) return 1;
    if (fwrite(speech.features[last], 1, SPEECH_CHANNELS, results) != SPEECH_CHANNELS) return 0;
    return event != SPEECH_SCORES || fwrite(speech.scores, 1, SPEECH_LABELS, results) == SPEECH_LABELS;
}

int main(void)
{
    static int16_t piece[PIECE];
    uint32_t count, taken, at = 0, shown = SPEECH_LABELS;
    FILE *samples = fopen(SAMPLES, "rb");
    int32_t event = speech_init(&speech);
#ifdef RESULTS
    results = fopen(RESULTS, "wb");
    if (results == NULL) return 1;
#endif
    if (samples == NULL || event != 0) return 1;
    while ((count = (uint32_t)fread(piece, sizeof *piece, PIECE, samples)) > 0) {
        const int16_t *from = piece;
        for (; count > 0; count -= taken, from += taken) {
            event = speech_feed(&speech, from, count, &taken);
            at += taken;
            if (event < 0 || (event != SPEECH_MORE && !record(event))) return 1;
            if (event == SPEECH_SCORES && speech_label(&speech) != shown) {
                shown = speech_label(&speech);
                printf("%lu ms: %s\n", (unsigned long)(at * 1000u / RATE), kLabels[shown]);
            }
        }
    }
    fclose(samples);
    if (results != NULL && fclose(results) != 0) return 1;
    return 0;
}
