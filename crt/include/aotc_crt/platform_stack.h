/* SPDX-License-Identifier: 0BSD */
/*
 * The default memory hooks: TVMPlatformMemory* with one stack allocator over the workspace.
 *
 * If TVM_WORKSPACE_SIZE_BYTES is above 0, the workspace is a static array of that size, and the
 * application need not call anything. Otherwise, or to use other memory, the application passes a
 * buffer to AotcPlatformStackUse before a model runs. TVM does not have the functions of this
 * header.
 */
#ifndef AOTC_CRT_PLATFORM_STACK_H_
#define AOTC_CRT_PLATFORM_STACK_H_

#include <stddef.h>
#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Uses the size_bytes bytes at memory as the workspace and resets the high-water mark. The memory
 * must stay valid. Returns kTvmErrorPlatformMemoryManagerInitialized if a block of the present
 * workspace is still allocated, and kTvmErrorPlatformCheckFailure for NULL or an impossible size.
 */
tvm_crt_error_t AotcPlatformStackUse(void *memory, size_t size_bytes);

/* Returns the largest number of workspace bytes in use at once, with padding and stored sizes. */
size_t AotcPlatformStackHighWaterBytes(void);

#ifdef __cplusplus
}
#endif

#endif /* AOTC_CRT_PLATFORM_STACK_H_ */
