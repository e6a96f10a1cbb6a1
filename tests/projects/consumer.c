/* SPDX-License-Identifier: Apache-2.0 */
/* A program that uses the library of a project with the prefix 'digits': the self test, then every
 * input from standard input to an output on standard output. Exits with 0 if all went well. */
#include <stdio.h>

#include "digits_app.h"

void digits_port_write(const char *text, uint32_t length)
{
    (void)fwrite(text, 1, length, stderr);
}

uint64_t digits_port_now(void)
{
    static uint64_t now;
    return ++now;
}

const char *digits_port_unit(void)
{
    return "calls";
}

int main(void)
{
    struct digits_self_test_result result;
    struct digits_tensor input, output;
    if (digits_self_test(&result) != 0 || result.layers == 0u) {
        (void)fprintf(stderr, "self test: layer %d differs, status %d\n", (int)result.layer,
                      (int)result.status);
        return 1;
    }
    (void)fprintf(stderr, "self test: %u of %u results exact\n", (unsigned)result.exact,
                  (unsigned)result.layers);
    for (;;) {
        input = digits_app_input(0);
        output = digits_app_output(0);
        if (fread(input.data, 1, input.bytes, stdin) != input.bytes) { break; }
        if (digits_app_run() != 0) { return 2; }
        if (fwrite(output.data, 1, output.bytes, stdout) != output.bytes) { return 3; }
    }
    return fflush(stdout) == 0 ? 0 : 4;
}
