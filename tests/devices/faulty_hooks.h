// SPDX-License-Identifier: Apache-2.0
/* Devices that watch how emitted code uses them, and fail on demand: for host builds.
 *
 * FAULTY_DEVICES(X) names them, X(Acc) X(Npu), in the order of the model's struct of devices;
 * FAULTY_NO_ACTIVATE and FAULTY_NO_OPEN are defined if the model does not call these hooks. What a
 * caller must know: a launched function runs as late as possible, in Sync, or as early, in
 * Launch, and until then its arguments must not change; both must give the same outputs. */
#ifndef FAULTY_HOOKS_H
#define FAULTY_HOOKS_H

#include <stdint.h>

enum faulty_hook {
    FAULTY_ACTIVATE,
    FAULTY_OPEN,
    FAULTY_CLOSE,
    FAULTY_DEACTIVATE,
    FAULTY_LAUNCH,
    FAULTY_SYNC,
    FAULTY_COPY,
    FAULTY_OPERATOR, /* of device 0: an operator of any device, see faulty_operator */
    FAULTY_HOOKS
};

#define FAULTY_MAX_FAULTS 4
#define FAULTY_MAX_DEVICES 4

struct faulty_fault {
    int device;
    enum faulty_hook hook;
    uint32_t nth; /* the first call is 1; 0: every call */
    int32_t status;
};

extern const char *const faulty_hook_names[FAULTY_HOOKS];

/* Forgets everything and takes these faults. `eager`: run in Launch instead of in Sync. */
void faulty_reset(const struct faulty_fault *faults, int count, int eager);
uint32_t faulty_calls(int device, enum faulty_hook hook);
/* What is wrong after a run, as text, or null: a device left open, active or running, a hook called
 * out of order or with another device's context, arguments that changed while they were in use. */
const char *faulty_violation(void);
/* What an operator returns that did its work: a test puts it into emitted code for `return 0`. */
int32_t faulty_operator(void);
/* The context of a device, as the caller gives it to the model. */
void *faulty_context(int device);

#endif
