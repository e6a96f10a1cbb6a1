/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/platform.h>

TVM_WEAK tvm_crt_error_t TVMPlatformBeforeMeasurement(void) {
    return kTvmErrorNoError;
}

TVM_WEAK tvm_crt_error_t TVMPlatformAfterMeasurement(void) {
    return kTvmErrorNoError;
}
