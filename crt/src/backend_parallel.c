/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/c_backend_api.h>

#include "internal.h"

int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void *cdata, int num_task) {
    TVMParallelGroupEnv group;
    (void)num_task;
    group.sync_handle = NULL;
    group.num_task = 1;
    return flambda(0, &group, cdata);
}

int TVMBackendParallelBarrier(int task_id, TVMParallelGroupEnv *penv) {
    (void)task_id;
    (void)penv;
    return kTvmErrorNoError;
}

int TVMBackendRunOnce(void **handle, int (*f)(void *), void *cdata, int nbytes) {
    int status = kTvmErrorNoError;
    (void)nbytes;
    if (*handle == NULL) {
        status = f(cdata);
        if (status == kTvmErrorNoError) {
            *handle = handle; /* any address but NULL */
        }
    }
    return status;
}

int TVMBackendRegisterEnvCAPI(const char *name, void *ptr) {
    (void)ptr;
    return aotc_crt_fail(kTvmErrorFunctionCallNotImplemented,
                         "not needed: ", name != NULL ? name : "", " [crt-env-api]");
}
