/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/c_runtime_api.h>

#include "internal.h"

int TVMStreamCreate(int device_type, int device_id, TVMStreamHandle *out) {
    (void)device_type;
    (void)device_id;
    if (out == NULL) {
        return aotc_crt_bad_argument();
    }
    *out = NULL;
    return kTvmErrorNoError;
}

int TVMStreamFree(int device_type, int device_id, TVMStreamHandle stream) {
    (void)device_type;
    (void)device_id;
    (void)stream;
    return kTvmErrorNoError;
}

int TVMSetStream(int device_type, int device_id, TVMStreamHandle handle) {
    (void)device_type;
    (void)device_id;
    (void)handle;
    return kTvmErrorNoError;
}

int TVMSynchronize(int device_type, int device_id, TVMStreamHandle stream) {
    (void)device_type;
    (void)device_id;
    (void)stream;
    return kTvmErrorNoError;
}
