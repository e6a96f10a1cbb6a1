/* SPDX-License-Identifier: Apache-2.0 */
/* An application as it is written for TVM's C interface: nothing in it knows aotc. Prints the outputs
 * of three runs as hexadecimal bytes. */
#include <stdio.h>
#include <string.h>
#include "tvmgen_default.h"

static unsigned char input[TVMGEN_DEFAULT_APP_INPUT_SIZE];
static unsigned char output[TVMGEN_DEFAULT_APP_OUTPUT_SIZE];

#ifdef TVMGEN_DEFAULT_SRAM_WORKSPACE_POOL_SIZE
static unsigned char sram[TVMGEN_DEFAULT_SRAM_WORKSPACE_POOL_SIZE] __attribute__((aligned(16)));
static unsigned char dram[TVMGEN_DEFAULT_DRAM_WORKSPACE_POOL_SIZE] __attribute__((aligned(16)));
#endif
#ifdef TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_SIZE
static const unsigned char flash[TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_SIZE] __attribute__((aligned(16))) = {
    TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_DATA
};
#endif

static int run(void)
{
    struct tvmgen_default_inputs inputs = { .APP_INPUT = input };
    struct tvmgen_default_outputs outputs = { .APP_OUTPUT = output };
#ifdef TVMGEN_DEFAULT_SRAM_WORKSPACE_POOL_SIZE
    struct tvmgen_default_workspace_pools pools = {
        .sram = sram,
        .dram = dram,
#ifdef TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_SIZE
        .flash = (void *)flash,
#endif
    };
    if (tvmgen_default_run(&inputs, &outputs, NULL) == 0) {
        return 1; /* no pools, and no error */
    }
    return tvmgen_default_run(&inputs, &outputs, &pools);
#else
    if (tvmgen_default_run(NULL, &outputs) == 0) {
        return 1;
    }
    return tvmgen_default_run(&inputs, &outputs);
#endif
}

int main(void)
{
    unsigned int state = 7;
    if (TVMGEN_DEFAULT_WORKSPACE_SIZE <= 0) {
        return 2;
    }
    for (int round = 0; round < 3; ++round) {
        for (size_t i = 0; i < sizeof input; ++i) {
            state = state * 1664525u + 1013904223u;
            input[i] = (unsigned char)(state >> 24);
        }
        if (run() != 0) {
            return 3;
        }
        for (size_t i = 0; i < sizeof output; ++i) {
            printf("%02x", output[i]);
        }
        printf("\n");
    }
    return 0;
}
