#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/crt_config.h>

static char last_error[TVM_CRT_LAST_ERROR_BYTES];

void TVMAPISetLastError(const char *msg) {
    size_t length = 0;
    if (msg != NULL) {
        while (length < sizeof(last_error) - 1u && msg[length] != '\0') {
            last_error[length] = msg[length];
            ++length;
        }
    }
    last_error[length] = '\0';
}

const char *TVMGetLastError(void) {
    return last_error;
}
