/* SPDX-License-Identifier: 0BSD */
/*
 * The tensor types of DLPack that the C runtime's interface uses.
 *
 * DLDevice, DLDataType and DLTensor have the layout of DLPack. A program that has DLPack's own
 * header may therefore put that one first on the include path.
 */
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kind of device: kDLCPU is the microcontroller, kDLExtDev an accelerator with its own memory. */
typedef enum { kDLCPU = 1, kDLExtDev = 12 } DLDeviceType;

/* One device: its kind, and its number among devices of that kind, from 0. */
typedef struct {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;

/* The interpretation of an element's bits. */
typedef enum {
    kDLInt = 0,
    kDLUInt = 1,
    kDLFloat = 2,
    kDLOpaqueHandle = 3,
    kDLBfloat = 4,
    kDLComplex = 5,
    kDLBool = 6
} DLDataTypeCode;

/* Element type: int8 is {kDLInt, 8, 1}. lanes is above 1 for vector elements only. */
typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

/*
 * A tensor whose elements belong to somebody else. shape and strides have ndim entries; strides are
 * in elements, not bytes, and NULL means row-major without gaps. The first element is byte_offset
 * bytes after data.
 */
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;

#ifdef __cplusplus
}
#endif

#endif /* DLPACK_DLPACK_H_ */
