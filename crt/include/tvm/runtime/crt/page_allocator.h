/* SPDX-License-Identifier: 0BSD */
/*
 * The page allocator: a memory manager for blocks that are freed in any order, in a pool that the
 * caller owns.
 *
 * The pool contains the manager, a page table of two bytes for each page, and the pages. A block is
 * a run of whole pages, taken from the first free run that is long enough. A freed run joins its
 * free neighbours. Allocate and Free walk through all runs, so their time grows with the number of
 * blocks. Not safe to share between threads or with an interrupt.
 */
#ifndef TVM_RUNTIME_CRT_PAGE_ALLOCATOR_H_
#define TVM_RUNTIME_CRT_PAGE_ALLOCATOR_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/crt/crt_config.h>
#include <tvm/runtime/crt/error_codes.h>

/* Maximal number of pages of a pool. */
#define TVM_CRT_PAGE_ALLOCATOR_MAX_PAGES 32767u

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MemoryManagerInterface MemoryManagerInterface;

/*
 * A memory manager. It manages one memory and ignores the argument device. A call that returns an
 * error has changed nothing.
 */
struct MemoryManagerInterface {
    /*
     * Stores in *out_ptr the address of a new block of num_bytes bytes (0 counts as 1), aligned to
     * TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES; NULL on error. Returns kTvmErrorPlatformNoMemory if no
     * free run is long enough, and with TVM_CRT_DEBUG kTvmErrorPlatformUsedAfterFree if something
     * wrote to the free pages. Both Allocate and Free return kTvmErrorPlatformCheckFailure if the
     * page table was overwritten.
     */
    tvm_crt_error_t (*Allocate)(MemoryManagerInterface *manager, size_t num_bytes, DLDevice device,
                                void **out_ptr);
    /*
     * Frees a block. Returns kTvmErrorPlatformStackAllocBadFree if ptr is not the address of an
     * allocated block.
     */
    tvm_crt_error_t (*Free)(MemoryManagerInterface *manager, void *ptr, DLDevice device);
    /* Number of allocated blocks. If it is not 0 at the end, blocks have leaked. */
    int vleak_size;
};

/*
 * Creates a manager in the size_bytes bytes at pool and stores its address, which is valid as long
 * as the pool. A page has 1 << page_size_log2 bytes, at least TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES.
 * Returns kTvmErrorPlatformNoMemory if no page fits. Returns kTvmErrorPlatformCheckFailure for a
 * NULL argument, a page size out of bounds, or more than TVM_CRT_PAGE_ALLOCATOR_MAX_PAGES pages.
 */
tvm_crt_error_t PageMemoryManagerCreate(MemoryManagerInterface **manager, uint8_t *pool,
                                        size_t size_bytes, size_t page_size_log2);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_PAGE_ALLOCATOR_H_ */
