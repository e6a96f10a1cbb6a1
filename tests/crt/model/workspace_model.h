// SPDX-License-Identifier: Apache-2.0
/* A model in the style of emitted C that takes its intermediates from the workspace. */
#ifndef TESTS_CRT_WORKSPACE_MODEL_H_
#define TESTS_CRT_WORKSPACE_MODEL_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WORKSPACE_MODEL_INPUT_ELEMENTS 24
/* Bytes of the two intermediates, which are live together. */
#define WORKSPACE_MODEL_SQUARES_BYTES 96
#define WORKSPACE_MODEL_SUMS_BYTES 24

/* *output = sum over groups of 4 of the square of each group's sum of squares; 0 for success. */
int32_t workspace_model_run(const int8_t *input, int64_t *output);

#ifdef __cplusplus
}
#endif

#endif /* TESTS_CRT_WORKSPACE_MODEL_H_ */
