/* SPDX-License-Identifier: Apache-2.0 */
/* The same functions without the mistakes. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int32_t divide(const int32_t *a, int32_t *out, int32_t n)
{
    out[0] = n == 0 ? 0 : a[0] / n;
    return 0;
}

int32_t null(int32_t *out, int32_t n)
{
    const int32_t *table = n == 3 ? out : NULL;
    if (table != NULL) { out[0] = *table; }
    return 0;
}

int32_t inside(float *out, int32_t n)
{
    int32_t row[8];
    memset(row, 0, sizeof row);
    row[7] = abs(n);
    out[0] = sqrtf((float)row[n > 5 ? 7 : 6]);
    return 0;
}
