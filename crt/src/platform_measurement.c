#include <tvm/runtime/crt/platform.h>

tvm_crt_error_t TVMPlatformBeforeMeasurement(void) {
    return kTvmErrorNoError;
}

tvm_crt_error_t TVMPlatformAfterMeasurement(void) {
    return kTvmErrorNoError;
}
