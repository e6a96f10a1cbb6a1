/* SPDX-License-Identifier: Apache-2.0 */
#include "mix.h"

extern const int32_t mix_offset;

int32_t mix_run(const struct mix_inputs *inputs, const struct mix_outputs *outputs, void *arena)
{
    int32_t i;
    (void)arena;
    for (i = 0; i < 3; ++i) { outputs->small[i] = (int16_t)(inputs->words[i] - 1); }
    for (i = 0; i < 2; ++i) {
        outputs->sum[i] = inputs->reals[i] + inputs->reals[0];
        outputs->plain[i] = inputs->words[i] + mix_offset * (2 - i);
        outputs->bytes[i] = (uint8_t)(inputs->words[i] & 0xFF);
        outputs->flags[i] = inputs->words[i] > 0;
        outputs->wide[i] = (int64_t)inputs->words[i] * 10000000000;
    }
    outputs->index[0] = 4000000000u;
#ifdef MIX_TRACE
    mix_trace(0, 0, outputs->sum, 8u);
#endif
    return 0;
}
