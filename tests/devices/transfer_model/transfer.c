/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer.h"
#include "transfer_variant.h"

#include <string.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>

#ifndef TRANSFER_ASYNC
#define TRANSFER_ASYNC 1
#endif

int32_t TVMDeviceAccActivate(void *context);
int32_t TVMDeviceAccOpen(void *context);
int32_t TVMDeviceAccClose(void *context);
int32_t TVMDeviceAccDeactivate(void *context);
int32_t TVMDeviceAccLaunch(void *context, TVMBackendPackedCFunc function, TVMValue *args,
                           int *type_codes, int num_args);
int32_t TVMDeviceAccSync(void *context);

#ifdef TRANSFER_TRACE
#define TRACE(op, data) transfer_trace(op, 0, data, 4u * TRANSFER_ELEMENTS)
#else
#define TRACE(op, data) ((void)0)
#endif

static int32_t transfer_add(const int32_t *in0, const int32_t *in1, int32_t *out)
{
    int32_t i;
    for (i = 0; i < TRANSFER_ELEMENTS; ++i) {
        out[i] = (int32_t)((uint32_t)in0[i] + (uint32_t)in1[i]);
    }
    return 0;
}

static int32_t transfer_subtract(const int32_t *in0, const int32_t *in1, int32_t *out)
{
    int32_t i;
    for (i = 0; i < TRANSFER_ELEMENTS; ++i) {
        out[i] = (int32_t)((uint32_t)in0[i] - (uint32_t)in1[i]);
    }
    return 0;
}

static int transfer_acc_add(TVMValue *args, int *type_codes, int num_args, TVMValue *ret_value,
                            int *ret_type_code, void *resource_handle)
{
    (void)type_codes;
    (void)num_args;
    (void)ret_value;
    (void)ret_type_code;
    (void)resource_handle;
    return (int)transfer_add(((DLTensor *)args[0].v_handle)->data,
                             ((DLTensor *)args[1].v_handle)->data,
                             ((DLTensor *)args[2].v_handle)->data);
}

static int transfer_acc_subtract(TVMValue *args, int *type_codes, int num_args,
                                 TVMValue *ret_value, int *ret_type_code, void *resource_handle)
{
    (void)type_codes;
    (void)num_args;
    (void)ret_value;
    (void)ret_type_code;
    (void)resource_handle;
    return (int)transfer_subtract(((DLTensor *)args[0].v_handle)->data,
                                  ((DLTensor *)args[1].v_handle)->data,
                                  ((DLTensor *)args[2].v_handle)->data);
}

static const int64_t transfer_shapes[] = {TRANSFER_ELEMENTS};
static const DLTensor transfer_tensor = {
    NULL, {12, 0}, 1, {kDLInt, 32, 1}, (int64_t *)&transfer_shapes[0], NULL, 0};

static void transfer_point(DLTensor *tensors, TVMValue *args, int *codes, const void *in0,
                           const void *in1, const void *out)
{
    const void *const data[3] = {in0, in1, out};
    int i;
    for (i = 0; i < 3; ++i) {
        tensors[i] = transfer_tensor;
        tensors[i].data = (void *)(uintptr_t)data[i];
        args[i].v_handle = &tensors[i];
        codes[i] = kTVMDLTensorHandle;
    }
}

struct transfer_acc_call {
    DLTensor tensors[3];
    TVMValue args[3];
    int codes[3];
};

/* What runs while the device is open. A call that runs is waited for also when another fails. */
static int32_t transfer_opened(const struct transfer_inputs *inputs,
                               const struct transfer_outputs *outputs, uint8_t *a, void *acc)
{
    int32_t *const host_sum = (void *)(a + 0);
    int32_t *const host_sum_on_acc = (void *)(a + 4 * TRANSFER_ELEMENTS);
    int32_t *const acc_sum = (void *)(a + 8 * TRANSFER_ELEMENTS);
    int32_t *const acc_sum_on_host = (void *)(a + 12 * TRANSFER_ELEMENTS);
    struct transfer_acc_call call;
    int32_t status;
    int32_t waited = 0;

    transfer_point(call.tensors, call.args, call.codes, inputs->c, inputs->d, acc_sum);
    status = TVMDeviceAccLaunch(acc, transfer_acc_add, call.args, call.codes, 3);
    if (status != 0) { return status; }
#if !TRANSFER_ASYNC
    status = TVMDeviceAccSync(acc);
    if (status != 0) { return status; }
    TRACE(0, acc_sum);
#endif
    status = transfer_add(inputs->a, inputs->b, host_sum);
#if TRANSFER_ASYNC
    waited = TVMDeviceAccSync(acc);
#endif
    if (status != 0) { return status; }
    if (waited != 0) { return waited; }
#if TRANSFER_ASYNC
    TRACE(0, acc_sum);
#endif
    TRACE(1, host_sum);
    (void)memcpy(host_sum_on_acc, host_sum, 4u * TRANSFER_ELEMENTS);
    TRACE(2, host_sum_on_acc);
    (void)memcpy(acc_sum_on_host, acc_sum, 4u * TRANSFER_ELEMENTS);
    TRACE(3, acc_sum_on_host);

    transfer_point(call.tensors, call.args, call.codes, acc_sum, host_sum_on_acc, outputs->right);
    status = TVMDeviceAccLaunch(acc, transfer_acc_subtract, call.args, call.codes, 3);
    if (status != 0) { return status; }
#if !TRANSFER_ASYNC
    status = TVMDeviceAccSync(acc);
    if (status != 0) { return status; }
    TRACE(4, outputs->right);
#endif
    status = transfer_subtract(host_sum, acc_sum_on_host, outputs->left);
#if TRANSFER_ASYNC
    waited = TVMDeviceAccSync(acc);
#endif
    if (status != 0) { return status; }
    if (waited != 0) { return waited; }
#if TRANSFER_ASYNC
    TRACE(4, outputs->right);
#endif
    TRACE(5, outputs->left);
    return 0;
}

int32_t transfer_run(const struct transfer_inputs *inputs, const struct transfer_outputs *outputs,
                     void *arena, const struct transfer_devices *devices)
{
    int32_t status;
    int32_t closing;
    status = TVMDeviceAccActivate(devices->acc);
    if (status != 0) { return status; }
    status = TVMDeviceAccOpen(devices->acc);
    if (status == 0) {
        status = transfer_opened(inputs, outputs, arena, devices->acc);
        closing = TVMDeviceAccClose(devices->acc);
        if (status == 0) { status = closing; }
    }
    closing = TVMDeviceAccDeactivate(devices->acc);
    return status != 0 ? status : closing;
}
