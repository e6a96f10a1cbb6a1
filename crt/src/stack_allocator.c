/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/crt/stack_allocator.h>

#include "internal.h"

#define ALIGNMENT ((size_t)TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES)
#define LIFO_CHECK TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK

tvm_crt_error_t StackMemoryManager_Init(tvm_workspace_t *workspace, uint8_t *memory,
                                        size_t size_bytes) {
    size_t padding = 0;
    /* Half of the address space as bound: no object is larger, and sums of sizes cannot wrap. */
    if (workspace == NULL || (memory == NULL && size_bytes != 0) || size_bytes > SIZE_MAX / 2) {
        return kTvmErrorPlatformCheckFailure;
    }
    if (memory != NULL) {
        padding = (size_t)(-(uintptr_t)memory & (ALIGNMENT - 1));
    }
    if (padding > size_bytes) {
        padding = size_bytes;
    }
    workspace->workspace = memory == NULL ? NULL : memory + padding;
    workspace->workspace_size = size_bytes - padding;
    workspace->next_alloc = workspace->workspace;
    workspace->high_water_bytes = 0;
#if TVM_CRT_DEBUG
    aotc_crt_mark_free(workspace->workspace, workspace->workspace_size);
#endif
    return kTvmErrorNoError;
}

#if LIFO_CHECK
/* Byte by byte: the workspace is an array of bytes, and no libc need be there for a memcpy. */
static void write_footer(uint8_t *block_end, uint32_t block_bytes) {
    block_end[-4] = (uint8_t)(block_bytes & 0xffu);
    block_end[-3] = (uint8_t)((block_bytes >> 8) & 0xffu);
    block_end[-2] = (uint8_t)((block_bytes >> 16) & 0xffu);
    block_end[-1] = (uint8_t)(block_bytes >> 24);
}

static uint32_t read_footer(const uint8_t *block_end) {
    return (uint32_t)block_end[-4] | (uint32_t)block_end[-3] << 8 | (uint32_t)block_end[-2] << 16 |
           (uint32_t)block_end[-1] << 24;
}
#endif

static size_t used_bytes(const tvm_workspace_t *workspace) {
    return (size_t)((uintptr_t)workspace->next_alloc - (uintptr_t)workspace->workspace);
}

tvm_crt_error_t StackMemoryManager_Allocate(tvm_workspace_t *workspace, int32_t num_bytes,
                                            void **out_ptr) {
    size_t used, left, block_bytes;
    if (out_ptr == NULL) {
        return kTvmErrorPlatformCheckFailure;
    }
    *out_ptr = NULL;
    if (workspace == NULL || num_bytes < 0) {
        return kTvmErrorPlatformCheckFailure;
    }
    used = used_bytes(workspace);
    left = workspace->workspace_size - used;
    /* Before the rounding: num_bytes may be more than a size_t of 16 bits holds. */
    if ((uint32_t)num_bytes > left) {
        return kTvmErrorPlatformNoMemory;
    }
    block_bytes =
        TVM_CRT_STACK_ALLOCATOR_BLOCK_BYTES(num_bytes == 0 ? (size_t)1 : (size_t)num_bytes);
    if (block_bytes > left) {
        return kTvmErrorPlatformNoMemory;
    }
#if TVM_CRT_DEBUG
    if (!aotc_crt_is_free(workspace->next_alloc, block_bytes)) {
        return kTvmErrorPlatformUsedAfterFree;
    }
#endif
    *out_ptr = workspace->next_alloc;
    workspace->next_alloc += block_bytes;
#if LIFO_CHECK
    write_footer(workspace->next_alloc, (uint32_t)block_bytes);
#endif
    if (used + block_bytes > workspace->high_water_bytes) {
        workspace->high_water_bytes = used + block_bytes;
    }
    return kTvmErrorNoError;
}

tvm_crt_error_t StackMemoryManager_Free(tvm_workspace_t *workspace, void *ptr) {
    size_t used, offset;
    if (workspace == NULL) {
        return kTvmErrorPlatformCheckFailure;
    }
    used = used_bytes(workspace);
    /* Wraps to a large number for an address below the workspace. */
    offset = (size_t)((uintptr_t)ptr - (uintptr_t)workspace->workspace);
    if (ptr == NULL || offset >= used || offset % ALIGNMENT != 0) {
        return kTvmErrorPlatformStackAllocBadFree;
    }
#if LIFO_CHECK
    if (read_footer(workspace->next_alloc) != used - offset) {
        return kTvmErrorPlatformStackAllocBadFree;
    }
#endif
    workspace->next_alloc = workspace->workspace + offset;
#if TVM_CRT_DEBUG
    aotc_crt_mark_free(workspace->next_alloc, used - offset);
#endif
    return kTvmErrorNoError;
}
