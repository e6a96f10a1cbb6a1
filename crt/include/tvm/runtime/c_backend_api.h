/*
 * What emitted C calls while a model runs.
 *
 * A model compiled with a static arena needs none of it; one compiled for workspace memory takes
 * every intermediate tensor from TVMBackendAllocWorkspace and gives it back newest first, which is
 * what lets a stack serve as the heap.
 */
#ifndef TVM_RUNTIME_C_BACKEND_API_H_
#define TVM_RUNTIME_C_BACKEND_API_H_

#include <stdint.h>
#include <tvm/runtime/c_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A function in the packed convention: num_args values with their TVMArgTypeCodes in, at most one
 * value with its code out. Returns 0 for success.
 */
typedef int (*TVMBackendPackedCFunc)(TVMValue *args, int *type_codes, int num_args,
                                     TVMValue *out_ret_value, int *out_ret_tcode,
                                     void *resource_handle);

/*
 * nbytes of memory of device {device_type, device_id} from TVMPlatformMemoryAllocate, aligned as
 * that function promises (the stack binding: TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES). The contents are
 * indeterminate. The two hints name the element type and are not used. Returns NULL when there is
 * no memory, and leaves the reason in TVMGetLastError.
 */
void *TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int dtype_code_hint,
                               int dtype_bits_hint);

/*
 * Gives back what TVMBackendAllocWorkspace returned for the same device. Returns 0, or the
 * tvm_crt_error_t of TVMPlatformMemoryFree with the reason in TVMGetLastError.
 */
int TVMBackendFreeWorkspace(int device_type, int device_id, void *ptr);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_C_BACKEND_API_H_ */
