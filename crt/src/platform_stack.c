/* SPDX-License-Identifier: 0BSD */
#include <aotc_crt/platform_stack.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/crt_config.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/stack_allocator.h>

#if TVM_WORKSPACE_SIZE_BYTES > 0
/* C99 cannot ask for an alignment: the bytes more are what the allocator may skip in front. */
static uint8_t static_workspace[TVM_WORKSPACE_SIZE_BYTES + TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES - 1];
#endif

/* No memory yet while workspace.workspace is NULL. */
static tvm_workspace_t workspace;

/* Takes the static workspace unless there is memory. */
static tvm_crt_error_t prepare(void) {
    if (workspace.workspace != NULL) {
        return kTvmErrorNoError;
    }
#if TVM_WORKSPACE_SIZE_BYTES > 0
    return StackMemoryManager_Init(&workspace, static_workspace, sizeof(static_workspace));
#else
    return kTvmErrorPlatformNoMemory;
#endif
}

TVM_WEAK tvm_crt_error_t TVMPlatformInitialize(void) {
    return prepare();
}

tvm_crt_error_t AotcPlatformStackUse(void *memory, size_t size_bytes) {
    if (memory == NULL) {
        return kTvmErrorPlatformCheckFailure;
    }
    if (workspace.next_alloc != workspace.workspace) {
        return kTvmErrorPlatformMemoryManagerInitialized;
    }
    return StackMemoryManager_Init(&workspace, (uint8_t *)memory, size_bytes);
}

size_t AotcPlatformStackHighWaterBytes(void) {
    return workspace.high_water_bytes;
}

/* Weak, as every ready hook: an application's own goes before, in whatever way both are linked.
 * The device is not looked at: all devices share the one workspace. */
TVM_WEAK tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice device,
                                                   void **out_ptr) {
    tvm_crt_error_t error;
    (void)device;
    if (out_ptr == NULL) {
        return kTvmErrorPlatformCheckFailure;
    }
    *out_ptr = NULL;
    error = prepare();
    if (error != kTvmErrorNoError) {
        return error;
    }
#if SIZE_MAX > INT32_MAX
    if (num_bytes > INT32_MAX) {
        return kTvmErrorPlatformNoMemory;
    }
#endif
    return StackMemoryManager_Allocate(&workspace, (int32_t)num_bytes, out_ptr);
}

TVM_WEAK tvm_crt_error_t TVMPlatformMemoryFree(void *ptr, DLDevice device) {
    (void)device;
    return StackMemoryManager_Free(&workspace, ptr);
}
