/* SPDX-License-Identifier: 0BSD */
/* What the network of the streaming benchmark hears, as its training computes it: differences of
 * neighbouring samples, a Hamming window, the spectrum's power, its sums in 40 triangular bands that
 * are equally wide in mel, and these as decibels between 0 and 1. Single precision throughout. */
#include <math.h>

#include "streaming.h"

#define POINTS 512u /* complex ones: even samples are real parts, odd ones imaginary parts */

static float window[WINDOW_SAMPLES / 2]; /* the other half is its mirror image */
static float cosines[POINTS / 2u + 1u];  /* a quarter of a turn */
static float places[POINTS];             /* of spectrum k + 1, in widths of a band */
static uint16_t reversed[POINTS];        /* its nine bits from the other end */
static float work[2u * POINTS];

static float mel(float hertz)
{
    return 1127.0f * logf(1.0f + hertz / 700.0f);
}

void features_initialise(void)
{
    const float turn = 6.28318530717958648f;
    const float width = mel(8000.0f) / (float)(BANDS + 1);
    uint32_t i;
    uint32_t bit;
    for (i = 0; i < WINDOW_SAMPLES / 2; ++i) {
        window[i] = 0.54f - 0.46f * cosf(turn * (float)i / (float)(WINDOW_SAMPLES - 1));
    }
    for (i = 0; i <= POINTS / 2u; ++i) { cosines[i] = cosf(turn * (float)i / (float)WINDOW_SAMPLES); }
    for (i = 0; i < POINTS; ++i) {
        places[i] = mel((float)(i + 1u) * (8000.0f / (float)POINTS)) / width;
        reversed[i] = 0;
        for (bit = 1u; bit < POINTS; bit <<= 1) {
            reversed[i] = (uint16_t)(reversed[i] * 2u + ((i & bit) != 0u ? 1u : 0u));
        }
    }
}

/* Of so many 1024ths of a turn, up to half of one. */
static float cosine(uint32_t at)
{
    return at <= POINTS / 2u ? cosines[at] : -cosines[POINTS - at];
}

static float sine(uint32_t at)
{
    return at <= POINTS / 2u ? cosines[POINTS / 2u - at] : cosines[at - POINTS / 2u];
}

static void load(const int16_t *samples)
{
    float before = (float)samples[0];
    uint32_t i;
    for (i = 0; i < POINTS; ++i) {
        const uint32_t mirror = WINDOW_SAMPLES - 1u - 2u * i;
        const float even = (float)samples[2u * i + 1u];
        const float odd = (float)samples[2u * i + 2u];
        float *const at = work + 2u * reversed[i];
        at[0] = (even - 0.96875f * before) * window[i < POINTS / 2u ? 2u * i : mirror];
        at[1] = (odd - 0.96875f * even) * window[i < POINTS / 2u ? 2u * i + 1u : mirror - 1u];
        before = odd;
    }
}

/* The step from groups of `size` points to groups of four times as many, of which `from` is where
 * the points at one place are first; turns are of these places. */
static void join_four(float *from, uint32_t size, const float half[2], const float full[2])
{
    float *const a = from;
    float *const b = a + 2u * size;
    float *const c = b + 2u * size;
    float *const d = c + 2u * size;
    const float b_re = b[0] * half[0] + b[1] * half[1];
    const float b_im = b[1] * half[0] - b[0] * half[1];
    const float d_re = d[0] * half[0] + d[1] * half[1];
    const float d_im = d[1] * half[0] - d[0] * half[1];
    const float even_re = c[0] + d_re;
    const float even_im = c[1] + d_im;
    const float odd_re = c[0] - d_re;
    const float odd_im = c[1] - d_im;
    const float ahead_re = even_re * full[0] + even_im * full[1];
    const float ahead_im = even_im * full[0] - even_re * full[1];
    const float aside_re = odd_im * full[0] - odd_re * full[1];
    const float aside_im = odd_re * full[0] + odd_im * full[1];
    const float sum_re = a[0] + b_re;
    const float sum_im = a[1] + b_im;
    const float difference_re = a[0] - b_re;
    const float difference_im = a[1] - b_im;
    a[0] = sum_re + ahead_re;
    a[1] = sum_im + ahead_im;
    c[0] = sum_re - ahead_re;
    c[1] = sum_im - ahead_im;
    b[0] = difference_re + aside_re;
    b[1] = difference_im - aside_im;
    d[0] = difference_re - aside_re;
    d[1] = difference_im + aside_im;
}

/* In place; what it gets is in the order of reversed bits. One step of radix 2, four of radix 4. */
static void transform(void)
{
    uint32_t size;
    uint32_t place;
    float *at;
    for (at = work; at != work + 2u * POINTS; at += 4) {
        const float re = at[2];
        const float im = at[3];
        at[2] = at[0] - re;
        at[3] = at[1] - im;
        at[0] += re;
        at[1] += im;
    }
    for (size = 2u; size < POINTS; size *= 4u) {
        for (place = 0; place < size; ++place) {
            const uint32_t turn = place * (POINTS / 2u / size);
            const float half[2] = {cosine(2u * turn), sine(2u * turn)};
            const float full[2] = {cosine(turn), sine(turn)};
            for (at = work + 2u * place; at < work + 2u * POINTS; at += 8u * size) {
                join_four(at, size, half, full);
            }
        }
    }
}

/* The spectrum of the real samples: work[2k] becomes the power of frequency k, work[0] that of the
 * highest; nothing asks for that of the lowest. */
static void powers(void)
{
    uint32_t k;
    const float highest = work[0] - work[1];
    work[0] = highest * highest;
    for (k = 1u; k <= POINTS / 2u; ++k) {
        float *const low = work + 2u * k;
        float *const high = work + 2u * (POINTS - k);
        const float even_re = 0.5f * (low[0] + high[0]);
        const float even_im = 0.5f * (low[1] - high[1]);
        const float odd_re = 0.5f * (low[1] + high[1]);
        const float odd_im = 0.5f * (high[0] - low[0]);
        const float turned_re = odd_re * cosine(k) + odd_im * sine(k);
        const float turned_im = odd_im * cosine(k) - odd_re * sine(k);
        const float low_re = even_re + turned_re;
        const float low_im = even_im + turned_im;
        const float high_re = even_re - turned_re;
        const float high_im = even_im - turned_im;
        high[0] = high_re * high_re + high_im * high_im;
        low[0] = low_re * low_re + low_im * low_im;
    }
}

/* Band b rises from place b to b + 1 and falls to b + 2. */
static void sum_bands(float *bands)
{
    uint32_t k;
    for (k = 0; k < BANDS; ++k) { bands[k] = 0.0f; }
    for (k = 1u; k <= POINTS; ++k) {
        const float place = places[k - 1u];
        const float power = work[2u * (k % POINTS)];
        const uint32_t band = (uint32_t)place;
        const float rise = place - (float)band;
        if (band < BANDS) { bands[band] += power * rise; }
        if (band >= 1u && band <= BANDS) { bands[band - 1u] += power * (1.0f - rise); }
    }
}

void features_of(const int16_t samples[WINDOW_SAMPLES + 1], float features[BANDS])
{
    const float unit = 1.0f / 1099511627776.0f; /* full scale is 2^15, the window has 2^10 */
    uint32_t i;
    load(samples);
    transform();
    powers();
    sum_bands(features);
    for (i = 0; i < BANDS; ++i) {
        const float power = features[i] * unit;
        const float value = (10.0f * log10f(power > 1e-30f ? power : 1e-30f) + 52.0f) / 64.0f;
        features[i] = value < 0.0f ? 0.0f : value > 1.0f ? 1.0f : value;
    }
}
