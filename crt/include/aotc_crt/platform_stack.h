/* SPDX-License-Identifier: 0BSD */
/*
 * The ready platform binding: TVMPlatformMemory* over one stack of workspace memory.
 *
 * Nothing need be called if TVM_WORKSPACE_SIZE_BYTES is above 0: the first allocation takes the
 * static workspace of that size. Otherwise, or to use other memory, the application gives a buffer
 * before a model runs. The functions of this header are this project's own, not TVM's.
 */
#ifndef AOTC_CRT_PLATFORM_STACK_H_
#define AOTC_CRT_PLATFORM_STACK_H_

#include <stddef.h>
#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Uses the size_bytes bytes at memory, which must live on, as workspace from now on, and restarts
 * the high-water mark. kTvmErrorPlatformMemoryManagerInitialized if a block of the present
 * workspace is live, kTvmErrorPlatformCheckFailure for NULL or an impossible size.
 */
tvm_crt_error_t AotcPlatformStackUse(void *memory, size_t size_bytes);

/* Most workspace bytes that were in use at once, sizes and padding included. */
size_t AotcPlatformStackHighWaterBytes(void);

#ifdef __cplusplus
}
#endif

#endif /* AOTC_CRT_PLATFORM_STACK_H_ */
