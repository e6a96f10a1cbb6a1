/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/crt/packed_func.h>

#include "internal.h"

static int too_many(void) {
    return aotc_crt_fail(kTvmErrorFunctionCallNumArguments, "more values than TVM_CRT_MAX_ARGS", "",
                         " [crt-call-args]");
}

/* Field by field: the assignment of a structure may be a call of memcpy. */
static void copy_values(TVMArgs *to, const TVMValue *values, const int *tcodes, uint32_t count) {
    uint32_t i;
    to->values_count = count;
    for (i = 0; i < count; ++i) {
        to->values[i].v_int64 = values[i].v_int64;
        to->tcodes[i] = tcodes[i];
        AOTC_CRT_KEEP_LOOP();
    }
}

int TVMCFuncSetReturn(TVMRetValueHandle ret, TVMValue *value, int *type_code, int num_ret) {
    if (num_ret < 0 || num_ret > TVM_CRT_MAX_ARGS) {
        return too_many();
    }
    copy_values(ret, value, type_code, (uint32_t)num_ret);
    return kTvmErrorNoError;
}

int TVMPackedFunc_SetArgs(TVMPackedFunc *pf, const TVMArgs *args) {
    if (args->values_count > TVM_CRT_MAX_ARGS) {
        return too_many();
    }
    copy_values(&pf->args, args->values, args->tcodes, args->values_count);
    return kTvmErrorNoError;
}

int TVMPackedFunc_Call(TVMPackedFunc *pf) {
    if (pf->args.values_count > TVM_CRT_MAX_ARGS) {
        return too_many();
    }
    pf->ret_value.values_count = 1;
    pf->ret_value.values[0].v_int64 = 0;
    pf->ret_value.tcodes[0] = kTVMNullptr;
    return TVMFuncCall(pf->fexec, pf->args.values, pf->args.tcodes, (int)pf->args.values_count,
                       pf->ret_value.values, pf->ret_value.tcodes);
}

static int prepare(TVMPackedFunc *pf, const char *name, const TVMArgs *args) {
    pf->name = name;
    pf->fexec = NULL;
    pf->args.values_count = 0;
    pf->ret_value.values_count = 0;
    pf->Call = TVMPackedFunc_Call;
    pf->SetArgs = TVMPackedFunc_SetArgs;
    return args != NULL ? TVMPackedFunc_SetArgs(pf, args) : kTvmErrorNoError;
}

int TVMPackedFunc_InitGlobalFunc(TVMPackedFunc *pf, const char *name, const TVMArgs *args) {
    const int error = prepare(pf, name, args);
    return error != kTvmErrorNoError ? error : TVMFuncGetGlobal(name, &pf->fexec);
}

int TVMPackedFunc_InitModuleFunc(TVMPackedFunc *pf, TVMModuleHandle module, const char *name,
                                 const TVMArgs *args) {
    const int error = prepare(pf, name, args);
    return error != kTvmErrorNoError ? error : TVMModGetFunction(module, name, 0, &pf->fexec);
}
