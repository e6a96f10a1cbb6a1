/* SPDX-License-Identifier: 0BSD */
#include <limits.h>
#include <tvm/runtime/crt/page_allocator.h>

#include "internal.h"

#define ALIGNMENT ((size_t)TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES)

/* An entry of the page table, meaningful for the first page of a run only: length and state. */
#define RUN_LENGTH 0x7fffu
#define RUN_LIVE 0x8000u

typedef struct {
    MemoryManagerInterface interface; /* first: a pointer to it is a pointer to the whole */
    uint16_t *runs;                   /* one entry for each page */
    uint8_t *pages;
    size_t num_pages;
    size_t page_size_log2;
} PageManager;

static size_t round_up(size_t bytes) {
    return (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

/* Length of the run that begins at page, 0 if the table is damaged. */
static size_t run_length(const PageManager *manager, size_t page) {
    const size_t length = manager->runs[page] & RUN_LENGTH;
    return length <= manager->num_pages - page ? length : 0;
}

static tvm_crt_error_t page_allocate(MemoryManagerInterface *interface, size_t num_bytes,
                                     DLDevice device, void **out_ptr) {
    PageManager *manager = (PageManager *)interface;
    size_t page, length, wanted;
    (void)device;
    if (out_ptr == NULL) {
        return kTvmErrorPlatformCheckFailure;
    }
    *out_ptr = NULL;
    if (manager == NULL) {
        return kTvmErrorPlatformCheckFailure;
    }
    /* Not rounded up by addition: num_bytes may be the largest size_t. */
    wanted = num_bytes == 0 ? 1 : ((num_bytes - 1) >> manager->page_size_log2) + 1;
    for (page = 0; page < manager->num_pages; page += length) {
        length = run_length(manager, page);
        if (length == 0) {
            return kTvmErrorPlatformCheckFailure;
        }
        if ((manager->runs[page] & RUN_LIVE) != 0 || length < wanted) {
            continue;
        }
#if TVM_CRT_DEBUG
        if (!aotc_crt_is_free(manager->pages + (page << manager->page_size_log2),
                              wanted << manager->page_size_log2)) {
            return kTvmErrorPlatformUsedAfterFree;
        }
#endif
        if (length > wanted) {
            manager->runs[page + wanted] = (uint16_t)(length - wanted);
        }
        manager->runs[page] = (uint16_t)(wanted | RUN_LIVE);
        *out_ptr = manager->pages + (page << manager->page_size_log2);
        ++manager->interface.vleak_size;
        return kTvmErrorNoError;
    }
    return kTvmErrorPlatformNoMemory;
}

/* Ends the live run [page, page + length); previous is the run before it, or page if none. */
static tvm_crt_error_t release_run(PageManager *manager, size_t previous, size_t page,
                                   size_t length) {
    const size_t next = page + length;
    size_t first = page;
    size_t end = next;
    if (next < manager->num_pages) {
        const size_t next_length = run_length(manager, next);
        if (next_length == 0) {
            return kTvmErrorPlatformCheckFailure;
        }
        if ((manager->runs[next] & RUN_LIVE) == 0) {
            end = next + next_length;
        }
    }
    if ((manager->runs[previous] & RUN_LIVE) == 0) {
        first = previous;
    }
#if TVM_CRT_DEBUG
    aotc_crt_mark_free(manager->pages + (page << manager->page_size_log2),
                       length << manager->page_size_log2);
#endif
    manager->runs[first] = (uint16_t)(end - first);
    --manager->interface.vleak_size;
    return kTvmErrorNoError;
}

static tvm_crt_error_t page_free(MemoryManagerInterface *interface, void *ptr, DLDevice device) {
    PageManager *manager = (PageManager *)interface;
    size_t page, previous, length, offset, target;
    (void)device;
    if (manager == NULL) {
        return kTvmErrorPlatformCheckFailure;
    }
    /* Wraps to a large number for an address below the pages. */
    offset = (size_t)((uintptr_t)ptr - (uintptr_t)manager->pages);
    target = offset >> manager->page_size_log2;
    if (ptr == NULL || target >= manager->num_pages ||
        offset != target << manager->page_size_log2) {
        return kTvmErrorPlatformStackAllocBadFree;
    }
    previous = 0;
    for (page = 0; page <= target; page += length) {
        length = run_length(manager, page);
        if (length == 0) {
            return kTvmErrorPlatformCheckFailure;
        }
        if (page == target && (manager->runs[page] & RUN_LIVE) != 0) {
            return release_run(manager, previous, page, length);
        }
        previous = page;
    }
    return kTvmErrorPlatformStackAllocBadFree;
}

/* Bytes of the pool before the first page, when there are num_pages. */
static size_t table_bytes(size_t num_pages) {
    return round_up(sizeof(PageManager) + num_pages * sizeof(uint16_t));
}

tvm_crt_error_t PageMemoryManagerCreate(MemoryManagerInterface **manager, uint8_t *pool,
                                        size_t size_bytes, size_t page_size_log2) {
    PageManager *self;
    void *header; /* void: aligned for what is put there, unlike a uint8_t */
    void *table;
    size_t padding, page_bytes, num_pages;
    if (manager == NULL) {
        return kTvmErrorPlatformCheckFailure;
    }
    *manager = NULL;
    /* The bounds keep the shift defined and the sums below from wrapping. */
    if (pool == NULL || size_bytes > SIZE_MAX / 2 ||
        page_size_log2 >= sizeof(size_t) * CHAR_BIT - 1) {
        return kTvmErrorPlatformCheckFailure;
    }
    page_bytes = (size_t)1 << page_size_log2;
    if (page_bytes < ALIGNMENT) {
        return kTvmErrorPlatformCheckFailure;
    }
    padding = (size_t)(-(uintptr_t)pool & (ALIGNMENT - 1));
    if (size_bytes < padding + sizeof(PageManager)) {
        return kTvmErrorPlatformNoMemory;
    }
    size_bytes -= padding;
    num_pages = (size_bytes - sizeof(PageManager)) / (page_bytes + sizeof(uint16_t));
    if (num_pages > TVM_CRT_PAGE_ALLOCATOR_MAX_PAGES) {
        return kTvmErrorPlatformCheckFailure;
    }
    /* The division did not count the padding behind the table, which may cost the last page. */
    if (num_pages > 0 && table_bytes(num_pages) + num_pages * page_bytes > size_bytes) {
        --num_pages;
    }
    if (num_pages == 0) {
        return kTvmErrorPlatformNoMemory;
    }
    header = pool + padding;
    table = pool + padding + sizeof(PageManager);
    self = header;
    self->interface.Allocate = page_allocate;
    self->interface.Free = page_free;
    self->interface.vleak_size = 0;
    self->runs = table;
    self->pages = pool + padding + table_bytes(num_pages);
    self->num_pages = num_pages;
    self->page_size_log2 = page_size_log2;
    self->runs[0] = (uint16_t)num_pages;
#if TVM_CRT_DEBUG
    aotc_crt_mark_free(self->pages, num_pages << page_size_log2);
#endif
    *manager = &self->interface;
    return kTvmErrorNoError;
}
