/* SPDX-License-Identifier: Apache-2.0 */
#include "faulty_hooks.h"

#include <stdio.h>
#include <string.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>

#define MAX_ARGUMENTS 32

#ifdef FAULTY_NO_ACTIVATE
#define ALWAYS_ACTIVE 1
#else
#define ALWAYS_ACTIVE 0
#endif
#ifdef FAULTY_NO_OPEN
#define ALWAYS_OPEN 1
#else
#define ALWAYS_OPEN 0
#endif

const char *const faulty_hook_names[FAULTY_HOOKS] = {"Activate", "Open", "Close", "Deactivate",
                                                     "Launch",   "Sync", "Copy",  "operator"};

struct device {
    int active, open, running;
    uint32_t calls[FAULTY_HOOKS];
    TVMBackendPackedCFunc function;
    TVMValue *args;
    int *type_codes;
    int num_args;
    TVMValue args_then[MAX_ARGUMENTS];
    DLTensor tensors_then[MAX_ARGUMENTS];
    int32_t status; /* of a function that was run eagerly */
};

static struct device devices[FAULTY_MAX_DEVICES];
static char contexts[FAULTY_MAX_DEVICES];
static struct faulty_fault faults[FAULTY_MAX_FAULTS];
static int fault_count, run_eagerly;
static char violation[256];

void faulty_reset(const struct faulty_fault *new_faults, int count, int eager)
{
    int i;
    (void)memset(devices, 0, sizeof devices);
    for (i = 0; i < FAULTY_MAX_DEVICES; ++i) {
        devices[i].active = ALWAYS_ACTIVE;
        devices[i].open = ALWAYS_OPEN;
    }
    for (i = 0; i < count; ++i) { faults[i] = new_faults[i]; }
    fault_count = count;
    run_eagerly = eager;
    violation[0] = 0;
}

uint32_t faulty_calls(int device, enum faulty_hook hook)
{
    return devices[device].calls[hook];
}

void *faulty_context(int device)
{
    return &contexts[device];
}

/* The first one is kept: what follows is often its consequence. */
static void violate(int device, enum faulty_hook hook, const char *what)
{
    if (violation[0] == 0) {
        (void)snprintf(violation, sizeof violation, "device %d, call %u of %s: %s", device,
                       (unsigned)devices[device].calls[hook], faulty_hook_names[hook], what);
    }
}

const char *faulty_violation(void)
{
    int i;
    for (i = 0; i < FAULTY_MAX_DEVICES; ++i) {
        if (devices[i].running) { violate(i, FAULTY_SYNC, "still running after the run"); }
        if (devices[i].open != ALWAYS_OPEN) { violate(i, FAULTY_CLOSE, "still open after the run"); }
        if (devices[i].active != ALWAYS_ACTIVE) { violate(i, FAULTY_DEACTIVATE, "still active after the run"); }
    }
    return violation[0] != 0 ? violation : 0;
}

/* Counts a call; the status it has to fail with, or 0. */
static int32_t enter(int device, enum faulty_hook hook, void *context)
{
    struct device *d = &devices[device];
    int i;
    ++d->calls[hook];
    if (context != &contexts[device]) { violate(device, hook, "not the context of the device"); }
    for (i = 0; i < fault_count; ++i) {
        if (faults[i].device == device && faults[i].hook == hook &&
            (faults[i].nth == 0u || faults[i].nth == d->calls[hook])) {
            return faults[i].status;
        }
    }
    return 0;
}

int32_t faulty_operator(void)
{
    return enter(0, FAULTY_OPERATOR, &contexts[0]);
}

static int32_t activate(int device, void *context)
{
    struct device *d = &devices[device];
    const int32_t status = enter(device, FAULTY_ACTIVATE, context);
    if (d->active) { violate(device, FAULTY_ACTIVATE, "it is active"); }
    if (status == 0) { d->active = 1; }
    return status;
}

static int32_t open_device(int device, void *context)
{
    struct device *d = &devices[device];
    const int32_t status = enter(device, FAULTY_OPEN, context);
    if (!d->active) { violate(device, FAULTY_OPEN, "it is not active"); }
    if (d->open) { violate(device, FAULTY_OPEN, "it is open"); }
    if (status == 0) { d->open = 1; }
    return status;
}

/* A close that fails was one nevertheless: nobody can do more. */
static int32_t close_device(int device, void *context)
{
    struct device *d = &devices[device];
    const int32_t status = enter(device, FAULTY_CLOSE, context);
    if (!d->open) { violate(device, FAULTY_CLOSE, "it is not open"); }
    if (d->running) { violate(device, FAULTY_CLOSE, "it is running"); }
    d->open = 0;
    return status;
}

static int32_t deactivate(int device, void *context)
{
    struct device *d = &devices[device];
    const int32_t status = enter(device, FAULTY_DEACTIVATE, context);
    if (!d->active) { violate(device, FAULTY_DEACTIVATE, "it is not active"); }
    if (d->open != ALWAYS_OPEN) { violate(device, FAULTY_DEACTIVATE, "it is open"); }
    d->active = 0;
    return status;
}

static int32_t call_function(struct device *d, void *context)
{
    TVMValue result;
    int code = kTVMNullptr;
    (void)memset(&result, 0, sizeof result);
    return d->function(d->args, d->type_codes, d->num_args, &result, &code, context);
}

static void remember_arguments(struct device *d)
{
    int i;
    for (i = 0; i < d->num_args; ++i) {
        d->args_then[i] = d->args[i];
        d->tensors_then[i] = *(const DLTensor *)d->args[i].v_handle;
    }
}

static int arguments_changed(const struct device *d)
{
    int i;
    for (i = 0; i < d->num_args; ++i) {
        const DLTensor *now = d->args[i].v_handle;
        const DLTensor *then = &d->tensors_then[i];
        if (d->args[i].v_handle != d->args_then[i].v_handle || now->data != then->data ||
            now->shape != then->shape || now->ndim != then->ndim) {
            return 1;
        }
    }
    return 0;
}

static int32_t launch(int device, void *context, TVMBackendPackedCFunc function, TVMValue *args,
                      int *type_codes, int num_args)
{
    struct device *d = &devices[device];
    const int32_t status = enter(device, FAULTY_LAUNCH, context);
    int i;
    if (!d->active) { violate(device, FAULTY_LAUNCH, "it is not active"); }
    if (!d->open) { violate(device, FAULTY_LAUNCH, "it is not open"); }
    if (d->running) { violate(device, FAULTY_LAUNCH, "it is running"); }
    if (num_args < 1 || num_args > MAX_ARGUMENTS) {
        violate(device, FAULTY_LAUNCH, "number of arguments");
        return -1;
    }
    for (i = 0; i < num_args; ++i) {
        if (type_codes[i] != kTVMDLTensorHandle || args[i].v_handle == 0) {
            violate(device, FAULTY_LAUNCH, "an argument is not a tensor");
            return -1;
        }
    }
    if (status != 0) { return status; }
    d->running = 1;
    d->function = function;
    d->args = args;
    d->type_codes = type_codes;
    d->num_args = num_args;
    remember_arguments(d);
    d->status = run_eagerly ? call_function(d, context) : 0;
    return 0;
}

static int32_t sync_device(int device, void *context)
{
    struct device *d = &devices[device];
    const int32_t status = enter(device, FAULTY_SYNC, context);
    const int running = d->running;
    d->running = 0;
    if (running && arguments_changed(d)) {
        violate(device, FAULTY_SYNC, "arguments changed while the device used them");
    }
    if (status != 0 || !running) { return status; }
    return run_eagerly ? d->status : call_function(d, context);
}

static int32_t copy(int device, void *context, void *to, const void *from, uint32_t bytes,
                    int32_t to_device)
{
    const int32_t status = enter(device, FAULTY_COPY, context);
    if (to_device != 0 && to_device != 1) { violate(device, FAULTY_COPY, "no direction"); }
    if (!devices[device].open) { violate(device, FAULTY_COPY, "it is not open"); }
    if (devices[device].running) { violate(device, FAULTY_COPY, "it is running"); }
    if (status != 0) { return status; }
    (void)memcpy(to, from, bytes);
    return 0;
}

#define INDEX_OF(Name) DEVICE_##Name,
enum { FAULTY_DEVICES(INDEX_OF) DEVICE_COUNT };

#define DEFINE_HOOKS(Name)                                                                         \
    int32_t TVMDevice##Name##Activate(void *context);                                              \
    int32_t TVMDevice##Name##Open(void *context);                                                  \
    int32_t TVMDevice##Name##Close(void *context);                                                 \
    int32_t TVMDevice##Name##Deactivate(void *context);                                            \
    int32_t TVMDevice##Name##Launch(void *context, TVMBackendPackedCFunc function, TVMValue *args, \
                                    int *type_codes, int num_args);                                \
    int32_t TVMDevice##Name##Sync(void *context);                                                  \
    int32_t TVMDevice##Name##Copy(void *context, void *to, const void *from, uint32_t bytes,       \
                                  int32_t to_device);                                              \
    int32_t TVMDevice##Name##Activate(void *context) { return activate(DEVICE_##Name, context); }  \
    int32_t TVMDevice##Name##Open(void *context) { return open_device(DEVICE_##Name, context); }   \
    int32_t TVMDevice##Name##Close(void *context) { return close_device(DEVICE_##Name, context); } \
    int32_t TVMDevice##Name##Deactivate(void *context)                                             \
    {                                                                                              \
        return deactivate(DEVICE_##Name, context);                                                 \
    }                                                                                              \
    int32_t TVMDevice##Name##Launch(void *context, TVMBackendPackedCFunc function, TVMValue *args, \
                                    int *type_codes, int num_args)                                 \
    {                                                                                              \
        return launch(DEVICE_##Name, context, function, args, type_codes, num_args);               \
    }                                                                                              \
    int32_t TVMDevice##Name##Sync(void *context) { return sync_device(DEVICE_##Name, context); }   \
    int32_t TVMDevice##Name##Copy(void *context, void *to, const void *from, uint32_t bytes,       \
                                  int32_t to_device)                                               \
    {                                                                                              \
        return copy(DEVICE_##Name, context, to, from, bytes, to_device);                           \
    }

FAULTY_DEVICES(DEFINE_HOOKS)
