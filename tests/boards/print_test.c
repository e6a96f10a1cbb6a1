/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the harness makes of numbers given as text, for comparison with another printer.
 * Usage: print_test {u|i|f} NUMBER ... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

const char *const labels[] = {0};

void platform_console_write(const char *text, uint32_t length)
{
    (void)fwrite(text, 1, length, stdout);
}

int main(int argc, char **argv)
{
    int i;
    for (i = 1; i + 1 < argc; i += 2) {
        switch (argv[i][0]) {
        case 'u': print_u64(strtoull(argv[i + 1], 0, 10)); break;
        case 'i': print_i64(strtoll(argv[i + 1], 0, 10)); break;
        default: print_float(strtof(argv[i + 1], 0)); break;
        }
        puts("");
    }
    return 0;
}
