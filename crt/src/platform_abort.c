/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/platform.h>

/* Volatile, so that the code survives to be read in a debugger and the loop is not removed. */
static volatile tvm_crt_error_t abort_reason;

TVM_WEAK void TVMPlatformAbort(tvm_crt_error_t error) {
    abort_reason = error;
    for (;;) {
        (void)abort_reason;
    }
}
