/* SPDX-License-Identifier: 0BSD */
/* The hooks of devices that this board does not have: their operators run on the processor that
 * runs the rest, at once, in Launch. To use a device of your own, write these functions for it;
 * docs/devices.md of aotc says what each must do. */
#include <stdint.h>
#include <string.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>

/* A file may be empty of devices, but not of everything. */
typedef int inline_devices_not_empty;

#define INLINE_DEVICE(Name)                                                                        \
    int32_t TVMDevice##Name##Activate(void *context);                                              \
    int32_t TVMDevice##Name##Open(void *context);                                                  \
    int32_t TVMDevice##Name##Close(void *context);                                                 \
    int32_t TVMDevice##Name##Deactivate(void *context);                                            \
    int32_t TVMDevice##Name##Launch(void *context, TVMBackendPackedCFunc function, TVMValue *args, \
                                    int *type_codes, int num_args);                                \
    int32_t TVMDevice##Name##Sync(void *context);                                                  \
    int32_t TVMDevice##Name##Copy(void *context, void *to, const void *from, uint32_t bytes,       \
                                  int32_t to_device);                                              \
    static int32_t status_of_##Name;                                                               \
    int32_t TVMDevice##Name##Activate(void *context) { (void)context; return 0; }                  \
    int32_t TVMDevice##Name##Open(void *context) { (void)context; return 0; }                      \
    int32_t TVMDevice##Name##Close(void *context) { (void)context; return 0; }                     \
    int32_t TVMDevice##Name##Deactivate(void *context) { (void)context; return 0; }                \
    int32_t TVMDevice##Name##Launch(void *context, TVMBackendPackedCFunc function, TVMValue *args, \
                                    int *type_codes, int num_args)                                 \
    {                                                                                              \
        TVMValue result;                                                                           \
        int result_code = kTVMNullptr;                                                             \
        (void)memset(&result, 0, sizeof result);                                                   \
        status_of_##Name = function(args, type_codes, num_args, &result, &result_code, context);   \
        return 0;                                                                                  \
    }                                                                                              \
    int32_t TVMDevice##Name##Sync(void *context)                                                   \
    {                                                                                              \
        const int32_t status = status_of_##Name;                                                   \
        (void)context;                                                                             \
        status_of_##Name = 0;                                                                      \
        return status;                                                                             \
    }                                                                                              \
    int32_t TVMDevice##Name##Copy(void *context, void *to, const void *from, uint32_t bytes,       \
                                  int32_t to_device)                                               \
    {                                                                                              \
        (void)context;                                                                             \
        (void)to_device;                                                                           \
        (void)memcpy(to, from, bytes);                                                             \
        return 0;                                                                                  \
    }

@inline_devices@
