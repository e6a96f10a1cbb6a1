/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes that `aotc analyze ranges` is to find, each at its line. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int32_t divide(const int32_t *a, int32_t *out, int32_t n)
{
    int32_t zeros = 0;
    for (int32_t i = 0; i < 2; ++i) { zeros += n > 100 ? 0 : 0; }
    out[0] = a[0] / zeros; /* planted: division */
    return 0;
}

int32_t null(int32_t *out, int32_t n)
{
    const int32_t *table = NULL;
    if (n == 3) { table = out; }
    if (n == 4) { out[0] = *table; } /* planted: null */
    return 0;
}

int32_t outside(int32_t *out, int32_t n)
{
    int32_t row[8];
    memset(row, 0, sizeof row);
    for (int32_t i = 0; i < 8; ++i) { row[i] = n; }
    int32_t at = n > 5 ? 8 : 7;
    if (n > 6) { out[0] = row[at]; } /* planted: bounds */
    return 0;
}

int32_t unwritten(int32_t *out, int32_t n)
{
    int32_t sum;
    if (n > 3) { sum = n; }
    out[0] = sum; /* planted: never written */
    return 0;
}

int32_t shift(int32_t *out, int32_t n)
{
    int32_t by = n == 1 ? 40 : 1;
    out[0] = n << by; /* planted: shift */
    return 0;
}
