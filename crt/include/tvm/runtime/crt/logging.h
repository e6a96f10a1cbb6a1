/* SPDX-License-Identifier: 0BSD */
/*
 * The log hook, the names of the log levels, and the macro that leaves out what is below a level.
 *
 * The runtime's functions return their errors and log nothing: this is for servers and
 * applications. TVMLogf has a ready definition that drops the text (src/platform_log.c), which a
 * definition in the application replaces.
 */
#ifndef TVM_RUNTIME_CRT_LOGGING_H_
#define TVM_RUNTIME_CRT_LOGGING_H_

#define TVM_CRT_LOG_LEVEL_ERROR 0
#define TVM_CRT_LOG_LEVEL_WARN 1
#define TVM_CRT_LOG_LEVEL_INFO 2
#define TVM_CRT_LOG_LEVEL_DEBUG 3

#include <tvm/runtime/crt/crt_config.h>

/* TVM_CRT_LOGF(TVM_CRT_LOG_LEVEL_INFO, format, ...): as TVMLogf, if the level is at most
 * TVM_CRT_LOG_LEVEL. */
#define TVM_CRT_LOGF(level, ...)            \
    do {                                    \
        if ((level) <= TVM_CRT_LOG_LEVEL) { \
            TVMLogf(__VA_ARGS__);           \
        }                                   \
    } while (0)

#ifdef __cplusplus
extern "C" {
#endif

/* Prints as printf does, to wherever the board shows text. */
void TVMLogf(const char *fmt, ...);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_LOGGING_H_ */
