/*
 * The runtime on an emulated 32-bit board, without a libc: what a desktop with its size_t of 64
 * bits cannot check. Exits with 0, or with the line of the first failed check.
 */
#include <aotc_crt/platform_stack.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/page_allocator.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/stack_allocator.h>

#include "../model/workspace_model.h"

/* Semihosting SYS_EXIT_EXTENDED with ADP_Stopped_ApplicationExit. */
static void exit_board(uint32_t status) {
    uint32_t block[2];
    register uint32_t operation __asm__("r0") = 0x20u;
    register uint32_t *argument __asm__("r1") = block;
    block[0] = 0x20026u;
    block[1] = status;
    __asm__ volatile("bkpt 0xab" : : "r"(operation), "r"(argument) : "memory");
    for (;;) {
    }
}

#define CHECK(condition)                \
    do {                                \
        if (!(condition)) {             \
            exit_board(__LINE__ % 256); \
        }                               \
    } while (0)

static void check_model(void) {
    int8_t input[WORKSPACE_MODEL_INPUT_ELEMENTS];
    int64_t output = 0;
    int i;
    for (i = 0; i < WORKSPACE_MODEL_INPUT_ELEMENTS; ++i) {
        input[i] = -128;
    }
    CHECK(workspace_model_run(input, &output) == 0);
    /* 6 groups of (4 * 128 * 128) squared. */
    CHECK(output == 6 * ((int64_t)65536 * 65536));
    CHECK(AotcPlatformStackHighWaterBytes() ==
          TVM_CRT_STACK_ALLOCATOR_BLOCK_BYTES(WORKSPACE_MODEL_SQUARES_BYTES) +
              TVM_CRT_STACK_ALLOCATOR_BLOCK_BYTES(WORKSPACE_MODEL_SUMS_BYTES));
}

static void check_sizes(void) {
    const uint64_t two_to_32 = (uint64_t)1 << 32;
    CHECK(TVMBackendAllocWorkspace(1, 0, two_to_32, 2, 8) == NULL);
    CHECK(TVMBackendAllocWorkspace(1, 0, two_to_32 + 8, 2, 8) == NULL);
    CHECK(TVMBackendAllocWorkspace(1, 0, 0xffffffffu, 2, 8) == NULL);
    CHECK(TVMBackendAllocWorkspace(1, 0, 0x7fffffffu, 2, 8) == NULL);
    CHECK(TVMGetLastError()[0] != '\0');
}

static void check_pages(void) {
    static uint8_t pool[2048];
    const DLDevice device = {kDLCPU, 0};
    MemoryManagerInterface *manager;
    void *a;
    void *b;
    CHECK(PageMemoryManagerCreate(&manager, pool, sizeof(pool), 6) == kTvmErrorNoError);
    CHECK(manager->Allocate(manager, 65, device, &a) == kTvmErrorNoError);
    CHECK(manager->Allocate(manager, 1, device, &b) == kTvmErrorNoError);
    CHECK((uint8_t *)b == (uint8_t *)a + 128);
    CHECK((uintptr_t)a % TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES == 0);
    CHECK(manager->Free(manager, a, device) == kTvmErrorNoError);
    CHECK(manager->Free(manager, a, device) == kTvmErrorPlatformStackAllocBadFree);
    CHECK(manager->Allocate(manager, 0xffffffffu, device, &a) == kTvmErrorPlatformNoMemory);
    CHECK(manager->vleak_size == 1);
    CHECK(PageMemoryManagerCreate(&manager, pool, sizeof(pool), 31) ==
          kTvmErrorPlatformCheckFailure);
    CHECK(PageMemoryManagerCreate(&manager, pool, sizeof(pool), 32) ==
          kTvmErrorPlatformCheckFailure);
}

static void reset(void) {
    check_model();
    check_sizes();
    check_pages();
    check_model();
    exit_board(0);
}

extern const uintptr_t vectors[];

/* Top of the RAM, entry. */
__attribute__((section(".vectors"), used))
const uintptr_t vectors[2] = {0x20004000u, (uintptr_t)reset};
