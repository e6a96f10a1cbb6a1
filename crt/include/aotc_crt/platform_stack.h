/* SPDX-License-Identifier: 0BSD */
/*
 * The default platform binding: TVMPlatformMemory* over one stack of workspace memory.
 *
 * If TVM_WORKSPACE_SIZE_BYTES is above 0, the first allocation uses the static workspace of that
 * size, and the application calls nothing. Otherwise, or to use other memory, the application
 * passes a buffer to AotcPlatformStackUse before a model runs. The functions of this header are
 * aotc's, not TVM's.
 */
#ifndef AOTC_CRT_PLATFORM_STACK_H_
#define AOTC_CRT_PLATFORM_STACK_H_

#include <stddef.h>
#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes the size_bytes bytes at memory the workspace and restarts the high-water mark. The memory
 * must stay valid. kTvmErrorPlatformMemoryManagerInitialized if a block of the present workspace
 * is live, kTvmErrorPlatformCheckFailure for NULL or an impossible size.
 */
tvm_crt_error_t AotcPlatformStackUse(void *memory, size_t size_bytes);

/* The maximum of workspace bytes in use at once, including stored sizes and padding. */
size_t AotcPlatformStackHighWaterBytes(void);

#ifdef __cplusplus
}
#endif

#endif /* AOTC_CRT_PLATFORM_STACK_H_ */
