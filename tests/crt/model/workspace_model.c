/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace_model.h"

#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>

static void square(const int8_t *input, int32_t *squares) {
    int32_t i;
    for (i = 0; i < WORKSPACE_MODEL_INPUT_ELEMENTS; ++i) {
        squares[i] = (int32_t)input[i] * input[i];
    }
}

static void sum_groups(const int32_t *squares, int32_t *sums) {
    int32_t i;
    for (i = 0; i < WORKSPACE_MODEL_INPUT_ELEMENTS / 4; ++i) {
        sums[i] = squares[4 * i] + squares[4 * i + 1] + squares[4 * i + 2] + squares[4 * i + 3];
    }
}

TVM_DLL int32_t workspace_model_run(const int8_t *input, int64_t *output) {
    int32_t i;
    void *squares;
    void *sums;
    squares = TVMBackendAllocWorkspace(1, 0, (uint64_t)WORKSPACE_MODEL_SQUARES_BYTES, 0, 32);
    if (squares == NULL) {
        return -1;
    }
    square(input, (int32_t *)squares);
    sums = TVMBackendAllocWorkspace(1, 0, (uint64_t)WORKSPACE_MODEL_SUMS_BYTES, 0, 32);
    if (sums == NULL) {
        (void)TVMBackendFreeWorkspace(1, 0, squares);
        return -1;
    }
    sum_groups((const int32_t *)squares, (int32_t *)sums);
    *output = 0;
    for (i = 0; i < WORKSPACE_MODEL_INPUT_ELEMENTS / 4; ++i) {
        *output += (int64_t)((const int32_t *)sums)[i] * ((const int32_t *)sums)[i];
    }
    if (TVMBackendFreeWorkspace(1, 0, sums) != 0) {
        return -1;
    }
    if (TVMBackendFreeWorkspace(1, 0, squares) != 0) {
        return -1;
    }
    return 0;
}
