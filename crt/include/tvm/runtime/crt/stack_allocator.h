/* SPDX-License-Identifier: 0BSD */
/*
 * The stack allocator: allocates blocks in memory that the caller owns. Blocks are freed in the
 * reverse order of their allocation, in a few instructions and without fragmentation.
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

/* Bytes of the block size that is stored after each block. The number is equal on all targets, so
 * that a compiler on a desktop can compute the workspace size for a board. */
#if TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
#define TVM_CRT_STACK_ALLOCATOR_FOOTER_BYTES 4u
#else
#define TVM_CRT_STACK_ALLOCATOR_FOOTER_BYTES 0u
#endif

/* Bytes of the workspace that a block of num_bytes >= 1 bytes takes. */
#define TVM_CRT_STACK_ALLOCATOR_BLOCK_BYTES(num_bytes) \
    TVM_CRT_STACK_ALLOCATOR_ROUND_UP((num_bytes) + TVM_CRT_STACK_ALLOCATOR_FOOTER_BYTES)
#define TVM_CRT_STACK_ALLOCATOR_ROUND_UP(bytes)                                                 \
    (((bytes) + (TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES - 1u)) / TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES * \
     TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES)

#ifdef __cplusplus
extern "C" {
#endif

/* The state of a stack allocator. StackMemoryManager_Init sets it; the application may only read
 * it. */
typedef struct {
    uint8_t *next_alloc;     /* address of the next block */
    uint8_t *workspace;      /* the first aligned byte of the memory */
    size_t workspace_size;   /* bytes from that address on */
    size_t high_water_bytes; /* largest number of bytes in use at once */
} tvm_workspace_t;

/*
 * Creates an empty stack in the size_bytes bytes at memory. Bytes before the first aligned address
 * are not used. Returns kTvmErrorPlatformCheckFailure for a NULL argument and for more than half of
 * the address space; NULL memory with size 0 is allowed.
 */
tvm_crt_error_t StackMemoryManager_Init(tvm_workspace_t *workspace, uint8_t *memory,
                                        size_t size_bytes);

/*
 * Stores in *out_ptr the address of a new block of num_bytes bytes (0 counts as 1), aligned to
 * TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES. On error *out_ptr is NULL. Returns kTvmErrorPlatformNoMemory
 * if the block does not fit, kTvmErrorPlatformCheckFailure for a negative size, and with
 * TVM_CRT_DEBUG kTvmErrorPlatformUsedAfterFree if something wrote to the free memory.
 */
tvm_crt_error_t StackMemoryManager_Allocate(tvm_workspace_t *workspace, int32_t num_bytes,
                                            void **out_ptr);

/*
 * Frees the newest block. Returns kTvmErrorPlatformStackAllocBadFree if ptr is not the newest block
 * or if its stored size was overwritten. Without TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK, ptr may
 * be any aligned address below the top of the stack, and all newer blocks are freed as well.
 */
tvm_crt_error_t StackMemoryManager_Free(tvm_workspace_t *workspace, void *ptr);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_ */
