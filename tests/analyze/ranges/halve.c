/* SPDX-License-Identifier: Apache-2.0 */
/* A user's operator with a mistake. */
#include <stdint.h>

int32_t halve(const int8_t *x, const int32_t *shape, const int32_t *by, int8_t *half)
{
    const int32_t none = by[0] - by[0];
    for (int32_t i = 0; i < shape[1]; ++i) { half[i] = (int8_t)(x[i] / none); } /* planted: division */
    return 0;
}
