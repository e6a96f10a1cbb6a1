/*
 * The log hook and the names of the log levels.
 *
 * The runtime itself logs nothing yet: TVMLogf is declared for the code of an application, which
 * defines it.
 */
#ifndef TVM_RUNTIME_CRT_LOGGING_H_
#define TVM_RUNTIME_CRT_LOGGING_H_

#define TVM_CRT_LOG_LEVEL_ERROR 0
#define TVM_CRT_LOG_LEVEL_WARN 1
#define TVM_CRT_LOG_LEVEL_INFO 2
#define TVM_CRT_LOG_LEVEL_DEBUG 3

#ifdef __cplusplus
extern "C" {
#endif

/* Prints as printf does, to wherever the board shows text. */
void TVMLogf(const char *fmt, ...);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_LOGGING_H_ */
