/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/crt_config.h>

#include "internal.h"

#define LAST (sizeof(last_error) - 1u)

static char last_error[TVM_CRT_LAST_ERROR_BYTES];

/* Copies text to last_error[at ..], short of last_error[end]; where it ended. */
static size_t append(size_t at, const char *text, size_t end) {
    while (at < end && *text != '\0') {
        last_error[at++] = *text++;
        AOTC_CRT_KEEP_LOOP();
    }
    return at;
}

void TVMAPISetLastError(const char *msg) {
    last_error[msg != NULL ? append(0, msg, LAST) : 0] = '\0';
}

const char *TVMGetLastError(void) {
    return last_error;
}

tvm_crt_error_t aotc_crt_fail(tvm_crt_error_t error, const char *before, const char *name,
                              const char *after) {
    size_t room = LAST;
    size_t at;
    for (at = 0; after[at] != '\0' && room > 0; ++at) {
        --room;
    }
    at = append(0, before, LAST);
    /* Where not even the rest fits, the name is worth more than the slug. */
    at = append(at, name, room > at ? room : LAST);
    last_error[append(at, after, LAST)] = '\0';
    return error;
}
