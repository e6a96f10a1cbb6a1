/* SPDX-License-Identifier: 0BSD */
/*
 * The hooks: functions through which the C runtime accesses the board. A port to a board defines
 * them.
 *
 * A program must define a hook only if linked code calls it. The runtime has default definitions of
 * TVMPlatformInitialize and TVMPlatformMemory* (src/platform_stack.c), of TVMPlatformAbort
 * (src/platform_abort.c) and of the two hooks around a measurement (src/platform_measurement.c).
 * The defaults are weak, so a definition in the application replaces them. No hook is called from
 * an interrupt.
 */
#ifndef TVM_RUNTIME_CRT_PLATFORM_H_
#define TVM_RUNTIME_CRT_PLATFORM_H_

#include <dlpack/dlpack.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/crt/error_codes.h>

#if defined(__GNUC__)
#define TVM_CRT_NORETURN __attribute__((noreturn))
#else
#define TVM_CRT_NORETURN
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Initialises memory and devices; a second call changes nothing. */
tvm_crt_error_t TVMPlatformInitialize(void);

/* Stops the program because of an error; must not return. The default definition loops forever. */
void TVMPlatformAbort(tvm_crt_error_t error) TVM_CRT_NORETURN;

/*
 * Allocates num_bytes bytes of the device's memory and stores their address, which must be a
 * multiple of TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES. Returns kTvmErrorPlatformNoMemory if there is not
 * enough memory.
 */
tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice device, void **out_ptr);

/* Frees memory that TVMPlatformMemoryAllocate returned for the same device. */
tvm_crt_error_t TVMPlatformMemoryFree(void *ptr, DLDevice device);

/* Starts a time measurement; kTvmErrorPlatformTimerBadState if one is running. */
tvm_crt_error_t TVMPlatformTimerStart(void);

/* Stops the measurement and stores its seconds; kTvmErrorPlatformTimerBadState if none runs. */
tvm_crt_error_t TVMPlatformTimerStop(double *elapsed_time_seconds);

/* Called right before and right after a timed run, for example to suspend other tasks. The default
 * definitions do nothing. */
tvm_crt_error_t TVMPlatformBeforeMeasurement(void);
tvm_crt_error_t TVMPlatformAfterMeasurement(void);

/* Fills the buffer with random bytes. There is no default definition, because nobody would notice
 * that its random numbers are bad. */
tvm_crt_error_t TVMPlatformGenerateRandom(uint8_t *buffer, size_t num_bytes);

/* Formats like vsnprintf: writes at most out_buf_size_bytes bytes, the terminating zero included,
 * and returns the length of the complete text. */
size_t TVMPlatformFormatMessage(char *out_buf, size_t out_buf_size_bytes, const char *fmt,
                                va_list args);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_PLATFORM_H_ */
