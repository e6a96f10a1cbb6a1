/* SPDX-License-Identifier: 0BSD */
/*
 * The log hook TVMLogf, the log levels, and a macro that omits messages above a configured level.
 *
 * The runtime itself logs nothing, because its functions return errors; servers and applications
 * use this header. The default definition of TVMLogf does nothing (src/platform_log.c). A
 * definition in the application replaces it.
 */
#ifndef TVM_RUNTIME_CRT_LOGGING_H_
#define TVM_RUNTIME_CRT_LOGGING_H_

#define TVM_CRT_LOG_LEVEL_ERROR 0
#define TVM_CRT_LOG_LEVEL_WARN 1
#define TVM_CRT_LOG_LEVEL_INFO 2
#define TVM_CRT_LOG_LEVEL_DEBUG 3

#include <tvm/runtime/crt/crt_config.h>

/* TVM_CRT_LOGF(level, format, ...) calls TVMLogf(format, ...) if the level is at most
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

/* Prints like printf, to the board's text output. */
void TVMLogf(const char *fmt, ...);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_LOGGING_H_ */
