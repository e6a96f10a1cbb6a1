/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/platform.h>

static DLDevice make_device(int device_type, int device_id) {
    DLDevice device;
    device.device_type = (DLDeviceType)device_type;
    device.device_id = device_id;
    return device;
}

void *TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int dtype_code_hint,
                               int dtype_bits_hint) {
    void *ptr = NULL;
    tvm_crt_error_t error = kTvmErrorPlatformNoMemory;
    (void)dtype_code_hint;
    (void)dtype_bits_hint;
    if (nbytes <= SIZE_MAX) {
        error =
            TVMPlatformMemoryAllocate((size_t)nbytes, make_device(device_type, device_id), &ptr);
    }
    if (error == kTvmErrorNoError && ptr != NULL) {
        return ptr;
    }
#if TVM_CRT_DEBUG
    if (error == kTvmErrorPlatformUsedAfterFree) {
        TVMAPISetLastError("workspace written to after its free [crt-workspace-used]");
        return NULL;
    }
#endif
    TVMAPISetLastError(error == kTvmErrorPlatformNoMemory
                           ? "workspace too small for the model [crt-workspace-full]"
                           : "platform refused workspace memory [crt-workspace-alloc]");
    return NULL;
}

int TVMBackendFreeWorkspace(int device_type, int device_id, void *ptr) {
    const tvm_crt_error_t error = TVMPlatformMemoryFree(ptr, make_device(device_type, device_id));
    if (error != kTvmErrorNoError) {
        TVMAPISetLastError("workspace free: wrong order or pointer [crt-workspace-free]");
    }
    return (int)error;
}
