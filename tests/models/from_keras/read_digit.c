/* SPDX-License-Identifier: Apache-2.0 */
/* The application of docs/from-keras.md: says which digits the images on standard input (a .npy file
 * of int8) show. */
#include <stdio.h>
#include <string.h>

#include "reader.h"

static uint8_t arena[READER_ARENA_SIZE] __attribute__((aligned(READER_ARENA_ALIGN)));
static int8_t scores[READER_OUTPUT_OUTPUT_0_ELEMENTS];

int read_digit(const int8_t image[64]);

int read_digit(const int8_t image[64])
{
    const struct reader_outputs outputs = { .output_0 = scores };
    memcpy(reader_input_image(arena), image, READER_INPUT_IMAGE_BYTES);
    if (reader_run(NULL, &outputs, arena) != 0) {
        return -1;
    }
    int best = 0;
    for (int i = 1; i < 10; i++) {
        best = scores[i] > scores[best] ? i : best;
    }
    return best;
}

int main(void)
{
    char head[128];
    int8_t image[64];
    if (fread(head, 1, sizeof head, stdin) != sizeof head) {
        return 1;
    }
    while (fread(image, 1, sizeof image, stdin) == sizeof image) {
        printf("%d\n", read_digit(image));
    }
    return 0;
}
