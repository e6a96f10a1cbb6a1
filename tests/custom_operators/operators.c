/* SPDX-License-Identifier: Apache-2.0 */
/* Custom operators of the test model, as a user would write them. */
#include <stdint.h>

#include "limits.inc"

/* Each channel's values fall by `decay` a step until a larger one comes; and where the largest is. */
int32_t peak_hold(const int8_t *x, const int32_t *shape, const int32_t *zero_point, const float *decay,
                  int8_t *held, int32_t *place)
{
    const int32_t steps = shape[1], channels = shape[2];
    int32_t c, t;
    for (c = 0; c < channels; ++c) {
        float level = (float)LOWEST;
        int8_t largest = LOWEST;
        place[c] = 0;
        for (t = 0; t < steps; ++t) {
            const int8_t now = x[t * channels + c];
            if (now > largest) {
                largest = now;
                place[c] = t;
            }
            level = (level - (float)zero_point[0]) * decay[0] + (float)zero_point[0];
            if ((float)now > level) level = (float)now;
            held[t * channels + c] = (int8_t)(int32_t)(level < 0.0f ? level - 0.5f : level + 0.5f);
        }
    }
    return 0;
}

/* Windows of a row, `step` apart. */
int32_t frames(const float *row, const int32_t *step, const int32_t *shape, float *out)
{
    int32_t f, i;
    for (f = 0; f < shape[1]; ++f)
        for (i = 0; i < shape[2]; ++i) out[f * shape[2] + i] = row[f * step[0] + i];
    return 0;
}
