/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/logging.h>

TVM_WEAK void TVMLogf(const char *fmt, ...) {
    (void)fmt;
}
