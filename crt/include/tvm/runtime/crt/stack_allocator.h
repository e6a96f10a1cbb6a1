/* SPDX-License-Identifier: 0BSD */
/*
 * A stack of blocks in memory that the caller owns: blocks are freed in the opposite order of their
 * allocation, in a few instructions and without fragmentation.
 *
 * A call that returns an error has changed nothing. Not safe to share between threads or with an
 * interrupt.
 */
#ifndef TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_
#define TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_

#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/crt/crt_config.h>
#include <tvm/runtime/crt/error_codes.h>

/* Bytes of the size that is stored after each block; the same on every target, so that a compiler
 * on a desktop can compute the workspace of a board. */
#if TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
#define TVM_CRT_STACK_ALLOCATOR_FOOTER_BYTES 4u
#else
#define TVM_CRT_STACK_ALLOCATOR_FOOTER_BYTES 0u
#endif

/* Bytes of the workspace for one live block of num_bytes >= 1 bytes. */
#define TVM_CRT_STACK_ALLOCATOR_BLOCK_BYTES(num_bytes) \
    TVM_CRT_STACK_ALLOCATOR_ROUND_UP((num_bytes) + TVM_CRT_STACK_ALLOCATOR_FOOTER_BYTES)
#define TVM_CRT_STACK_ALLOCATOR_ROUND_UP(bytes)                                                 \
    (((bytes) + (TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES - 1u)) / TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES * \
     TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES)

#ifdef __cplusplus
extern "C" {
#endif

/* The state. StackMemoryManager_Init sets it; the application may only read it. */
typedef struct {
    uint8_t *next_alloc;     /* where the next block begins */
    uint8_t *workspace;      /* the first aligned byte of the memory */
    size_t workspace_size;   /* bytes from there */
    size_t high_water_bytes; /* most bytes that were in use at once */
} tvm_workspace_t;

/*
 * Makes the size_bytes bytes at memory an empty stack; the previous contents are ignored. Bytes
 * before the first aligned address are lost. kTvmErrorPlatformCheckFailure for a NULL argument
 * (NULL memory with size 0 is allowed) and for more than half of the address space.
 */
tvm_crt_error_t StackMemoryManager_Init(tvm_workspace_t *workspace, uint8_t *memory,
                                        size_t size_bytes);

/*
 * Stores in *out_ptr the address of a new block of num_bytes bytes (0 counts as 1), aligned to
 * TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES. On error *out_ptr is NULL: kTvmErrorPlatformNoMemory if it
 * does not fit, kTvmErrorPlatformCheckFailure for a negative size, and with TVM_CRT_DEBUG
 * kTvmErrorPlatformUsedAfterFree if something wrote to the free memory.
 */
tvm_crt_error_t StackMemoryManager_Allocate(tvm_workspace_t *workspace, int32_t num_bytes,
                                            void **out_ptr);

/*
 * Frees the newest block. kTvmErrorPlatformStackAllocBadFree if ptr is not that block or if its
 * size was overwritten; without TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK only if ptr is not an
 * aligned address below the top of the stack, and newer blocks are freed with it.
 */
tvm_crt_error_t StackMemoryManager_Free(tvm_workspace_t *workspace, void *ptr);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_ */
