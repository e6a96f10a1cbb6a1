/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/platform.h>

#include "internal.h"

/* A DLTensor and behind it its shape, of ndim elements. */
typedef struct {
    DLTensor tensor;
    int64_t shape[1];
} Array;

static DLDevice make_device(int device_type, int device_id) {
    DLDevice device;
    device.device_type = (DLDeviceType)device_type;
    device.device_id = device_id;
    return device;
}

static int refuse(const char *what) {
    return aotc_crt_fail(kTvmErrorFunctionCallInvalidArg, what, "", " [crt-array]");
}

static int report_memory(tvm_crt_error_t error) {
    if (error != kTvmErrorNoError) {
        (void)aotc_crt_fail(error, "no memory for an array, or bad free", "",
                            " [crt-array-memory]");
    }
    return error;
}

static tvm_crt_error_t allocate(size_t bytes, DLDevice device, void **out) {
    const tvm_crt_error_t error = TVMPlatformMemoryAllocate(bytes, device, out);
    return error == kTvmErrorNoError && *out == NULL ? kTvmErrorPlatformNoMemory : error;
}

/* Stores the bytes that the elements take together; 0 if there is no such array. */
static int elements_bytes(const int64_t *shape, int32_t ndim, DLDataType dtype, size_t *bytes) {
    const size_t limit = SIZE_MAX / 2;
    uint32_t element = ((uint32_t)dtype.bits * dtype.lanes + 7) / 8;
    int32_t i;
    if (element == 0 || element > limit || ndim < 0 || (ndim > 0 && shape == NULL)) {
        return 0;
    }
    *bytes = (size_t)element;
    for (i = 0; i < ndim; ++i) {
        if (shape[i] < 0 || (uint64_t)shape[i] > limit ||
            (shape[i] > 0 && *bytes > limit / (size_t)shape[i])) {
            return 0;
        }
        *bytes *= (size_t)shape[i];
    }
    return 1;
}

int TVMArrayAlloc(const tvm_index_t *shape, int ndim, int dtype_code, int dtype_bits,
                  int dtype_lanes, int device_type, int device_id, TVMArrayHandle *out) {
    const DLDevice device = make_device(device_type, device_id);
    const DLDevice cpu = make_device(kDLCPU, 0);
    DLDataType dtype;
    size_t bytes;
    void *block;
    void *data;
    Array *array;
    tvm_crt_error_t error;
    int i;
    if (out == NULL) {
        return refuse("no place for an array");
    }
    *out = NULL;
    if (ndim > TVM_CRT_MAX_NDIM || dtype_bits < 1 || dtype_bits > 255 || dtype_lanes < 1 ||
        dtype_lanes > 32767) {
        return refuse("too many dimensions, or bad element type");
    }
    dtype.code = (uint8_t)dtype_code;
    dtype.bits = (uint8_t)dtype_bits;
    dtype.lanes = (uint16_t)dtype_lanes;
    if (!elements_bytes(shape, ndim, dtype, &bytes)) {
        return refuse("bad shape of an array");
    }
    error = allocate(offsetof(Array, shape) + (size_t)ndim * sizeof(int64_t), cpu, &block);
    if (error != kTvmErrorNoError) {
        return report_memory(error);
    }
    error = allocate(bytes, device, &data);
    if (error != kTvmErrorNoError) {
        (void)TVMPlatformMemoryFree(block, cpu);
        return report_memory(error);
    }
    array = block;
    array->tensor.data = data;
    array->tensor.device = device;
    array->tensor.ndim = ndim;
    array->tensor.dtype = dtype;
    array->tensor.shape = (int64_t *)(void *)((uint8_t *)block + offsetof(Array, shape));
    array->tensor.strides = NULL;
    array->tensor.byte_offset = 0;
    for (i = 0; i < ndim; ++i) {
        array->tensor.shape[i] = shape[i];
        AOTC_CRT_KEEP_LOOP();
    }
    *out = &array->tensor;
    return kTvmErrorNoError;
}

int TVMArrayFree(TVMArrayHandle handle) {
    tvm_crt_error_t error;
    if (handle == NULL) {
        return refuse("free of no array");
    }
    error = TVMPlatformMemoryFree(handle->data, handle->device);
    if (error == kTvmErrorNoError) {
        error = TVMPlatformMemoryFree(handle, make_device(kDLCPU, 0));
    }
    return report_memory(error);
}

int TVMDeviceAllocDataSpace(DLDevice dev, size_t nbytes, size_t alignment, DLDataType type_hint,
                            void **out_data) {
    (void)type_hint;
    if (out_data == NULL) {
        return refuse("no place for a data space");
    }
    *out_data = NULL;
    if (alignment > TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES || (alignment & (alignment - 1)) != 0) {
        return refuse("alignment of a data space");
    }
    return report_memory(allocate(nbytes, dev, out_data));
}

static int is_global_scope(const char *scope) {
    const char *global = "global";
    if (scope == NULL || *scope == '\0') {
        return 1;
    }
    while (*scope == *global && *scope != '\0') {
        ++scope;
        ++global;
    }
    return *scope == *global;
}

int TVMDeviceAllocDataSpaceWithScope(DLDevice dev, int ndim, const int64_t *shape, DLDataType dtype,
                                     const char *mem_scope, void **out_data) {
    size_t bytes;
    if (out_data == NULL) {
        return refuse("no place for a data space");
    }
    *out_data = NULL;
    if (!is_global_scope(mem_scope)) {
        return refuse("memory scope is not global");
    }
    if (!elements_bytes(shape, ndim, dtype, &bytes)) {
        return refuse("bad shape of a data space");
    }
    return report_memory(allocate(bytes, dev, out_data));
}

int TVMDeviceFreeDataSpace(DLDevice dev, void *ptr) {
    return report_memory(TVMPlatformMemoryFree(ptr, dev));
}

/* Whether the elements lie row after row without gaps. */
static int is_compact(const DLTensor *tensor) {
    int64_t stride = 1;
    int32_t i;
    if (tensor->strides == NULL) {
        return 1;
    }
    for (i = tensor->ndim; i-- > 0;) {
        if (tensor->shape[i] != 1 && tensor->strides[i] != stride) {
            return 0;
        }
        stride *= tensor->shape[i];
    }
    return 1;
}

int TVMDeviceCopyDataFromTo(DLTensor *from, DLTensor *to, TVMStreamHandle stream) {
    size_t bytes, room, i;
    const uint8_t *source;
    uint8_t *target;
    (void)stream;
    if (from == NULL || to == NULL ||
        !elements_bytes(from->shape, from->ndim, from->dtype, &bytes) ||
        !elements_bytes(to->shape, to->ndim, to->dtype, &room) || bytes != room) {
        return refuse("copy between arrays of two sizes");
    }
    if (!is_compact(from) || !is_compact(to)) {
        return refuse("copy of an array with gaps");
    }
    source = (const uint8_t *)from->data + from->byte_offset;
    target = (uint8_t *)to->data + to->byte_offset;
    for (i = 0; i < bytes; ++i) {
        target[i] = source[i];
        AOTC_CRT_KEEP_LOOP();
    }
    return kTvmErrorNoError;
}

int TVMByteArrayFree(TVMByteArray *arr) {
    const DLDevice cpu = make_device(kDLCPU, 0);
    union {
        const char *constant;
        void *block;
    } data;
    tvm_crt_error_t error;
    if (arr == NULL) {
        return refuse("free of no bytes");
    }
    data.constant = arr->data;
    error = TVMPlatformMemoryFree(data.block, cpu);
    if (error == kTvmErrorNoError) {
        error = TVMPlatformMemoryFree(arr, cpu);
    }
    return report_memory(error);
}
